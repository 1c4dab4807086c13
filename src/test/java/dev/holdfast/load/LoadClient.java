package dev.holdfast.load;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ToolRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A client that opens a session, calls a tool again and again with pauses between, ends the session
 * and opens another, until its time is up.
 *
 * @param endpoint what it calls
 * @param tool {@code count}, or {@code countdown} where the gateway's own tools are called
 */
record LoadClient(
    HttpClient http,
    URI endpoint,
    String tool,
    Random random,
    long deadlineNanos,
    LoadResults figures)
    implements Callable<@Nullable Void> {

  private static final int CALLS_PER_SESSION = 100;
  private static final int MOST_STEPS = 5;
  private static final int BUSY = 503;
  private static final int STEP_MILLIS = 20;
  private static final int LEAST_PAUSE_MILLIS = 100;
  private static final int MOST_PAUSE_MILLIS = 500;

  @Override
  public @Nullable Void call() throws InterruptedException {
    while (goesOn()) {
      try {
        inOneSession();
      } catch (IOException failure) {
        figures.error(failure.toString());
      }
    }
    return null;
  }

  private boolean goesOn() {
    return System.nanoTime() - deadlineNanos < 0;
  }

  private void inOneSession() throws IOException, InterruptedException {
    FollowingClient client = new FollowingClient(http, List.of(endpoint), random);
    figures.session();
    for (int id = 1; id <= CALLS_PER_SESSION && goesOn(); id++) {
      callOnce(client, id, 1 + random.nextInt(MOST_STEPS));
      Thread.sleep(random.nextInt(LEAST_PAUSE_MILLIS, MOST_PAUSE_MILLIS));
    }
    end(client);
  }

  /** A session that a store too busy to end it has kept would be taken for a leak. */
  private void end(FollowingClient client) throws IOException, InterruptedException {
    int status = client.end(random);
    while (status == BUSY) {
      figures.error("DELETE was answered " + status);
      Thread.sleep(MOST_PAUSE_MILLIS);
      status = client.end(random);
    }
  }

  private void callOnce(FollowingClient client, int id, int steps) throws InterruptedException {
    long start = System.nanoTime();
    Transcript seen = client.call(request(id, steps), random);
    Duration time = Duration.ofNanos(System.nanoTime() - start);
    List<Integer> all = IntStream.rangeClosed(1, steps).boxed().toList();
    if (seen.results() == 1 && seen.errors().isEmpty() && seen.progress().equals(all)) {
      figures.whole(time);
    } else {
      figures.error(seen.toString());
    }
  }

  private String request(int id, int steps) {
    String unit = tool.equals("count") ? "n" : "from";
    return ToolRequest.of(
        id, tool, "{\"%s\":%d,\"intervalMs\":%d}".formatted(unit, steps, STEP_MILLIS));
  }
}

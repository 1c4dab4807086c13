package dev.holdfast.deploy;

import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Clients that work until they are told to stop: each opens a session, calls a tool that counts,
 * ends the session, and begins again.
 */
final class Callers implements AutoCloseable {

  private static final int STEP_MILLIS = 50;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Queue<Transcript> calls = new ConcurrentLinkedQueue<>();
  private final List<Future<?>> running = new ArrayList<>();
  private final int steps;
  private volatile boolean over;

  /**
   * Starts them, and returns when calls have ended.
   *
   * @param clients how many work at the same time
   * @param steps how far a call counts, twenty times a second
   */
  Callers(URI gateway, int clients, int steps) {
    this.steps = steps;
    for (int i = 0; i < clients; i++) {
      Random random = new Random(i);
      running.add(threads.submit(() -> work(gateway, random)));
    }
    await()
        .failFast("a client has failed", () -> running.stream().anyMatch(Future::isDone))
        .until(() -> calls.size() >= clients);
  }

  private Void work(URI gateway, Random random) throws Exception {
    String request =
        ToolRequest.of(
            1,
            "count",
            "{\"n\":%d,\"intervalMs\":%d,\"payload\":100}".formatted(steps, STEP_MILLIS));
    while (!over) {
      FollowingClient client = new FollowingClient(http, List.of(gateway), random);
      calls.add(client.call(request, random));
      client.end(random);
    }
    return null;
  }

  /**
   * Lets each client finish its call.
   *
   * @return all calls since the start
   * @throws java.util.concurrent.ExecutionException when a session could not be opened or ended
   */
  List<Transcript> stop() throws Exception {
    over = true;
    for (Future<?> client : running) {
      client.get();
    }
    return List.copyOf(calls);
  }

  @Override
  public void close() {
    over = true;
    threads.shutdownNow();
    // Closing it would wait for answers that nobody reads any more.
    http.shutdownNow();
  }
}

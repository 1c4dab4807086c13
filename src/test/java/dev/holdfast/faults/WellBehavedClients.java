package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/**
 * Clients that do what they should: some call, one call after the other, and some follow a stream.
 */
final class WellBehavedClients implements AutoCloseable {

  private static final int CALLERS = 6;
  private static final int CALLS = LongRun.REQUESTED ? 100 : 30;
  private static final int FOLLOWERS = 4;
  private static final int EVENTS = LongRun.REQUESTED ? 300 : 100;

  private final List<McpClient> clients = new ArrayList<>();

  WellBehavedClients(URI gateway) {
    for (int i = 0; i < CALLERS + FOLLOWERS; i++) {
      clients.add(McpClient.at(gateway));
    }
  }

  /**
   * How long calls took.
   *
   * @param p50 half of them, in ms
   * @param p99 all but one in a hundred, in ms
   */
  record Latency(double p50, double p99) {}

  /** Lets all of them work, and checks that each got every event once. */
  Latency work() throws Exception {
    List<Long> took = Collections.synchronizedList(new ArrayList<>());
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> working = new ArrayList<>();
      for (McpClient client : clients.subList(0, CALLERS)) {
        working.add(threads.submit(() -> call(client, took)));
      }
      for (McpClient client : clients.subList(CALLERS, clients.size())) {
        working.add(threads.submit(() -> follow(client)));
      }
      for (Future<?> each : working) {
        each.get();
      }
    }
    Collections.sort(took);
    return new Latency(millis(took, 0.5), millis(took, 0.99));
  }

  private static double millis(List<Long> sorted, double share) {
    return sorted.get((int) (sorted.size() * share)) / 1e6;
  }

  private static void call(McpClient client, List<Long> took) {
    for (int id = 1; id <= CALLS; id++) {
      long since = System.nanoTime();
      FrameStream stream = client.stream(FloodServer.echo(id));
      List<Frame.Event> events = stream.events();
      took.add(System.nanoTime() - since);
      assertThat(events).as("call %s: %s %s", id, stream.status(), stream.raw()).hasSize(1);
      assertThat(events.getFirst().data()).contains("\"id\":" + id, "\"result\"");
    }
  }

  private static void follow(McpClient client) {
    try (FrameStream stream = client.stream(FloodServer.flood(1, EVENTS, 100, 5))) {
      assertThat(stream.events())
          .extracting(Frame.Event::number)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, EVENTS + 1).boxed().toList());
    }
  }

  @Override
  public void close() {
    clients.forEach(McpClient::delete);
  }
}

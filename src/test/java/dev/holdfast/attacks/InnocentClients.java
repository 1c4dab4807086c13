package dev.holdfast.attacks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Clients that call a tool all the time, from an address of their own. Now and then one opens
 * another session. Each answer other than the expected one is an error.
 */
final class InnocentClients implements AutoCloseable {

  private static final int CLIENTS = 4;
  private static final int CALLS_PER_SESSION = 50;
  private static final long PAUSE_MILLIS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration MOST = Duration.ofMinutes(1);

  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"innocent","version":"1"}}}\
      """;

  private final URI gateway;
  private final HttpClient http;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final AtomicReference<Calls> current = new AtomicReference<>(new Calls());
  private volatile boolean over;

  /** What the clients saw from one time to another. */
  private static final class Calls {
    private final List<Long> took = new CopyOnWriteArrayList<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();

    int count() {
      return took.size() + errors.size();
    }
  }

  /**
   * What the clients saw from one time to another.
   *
   * @param p50 half of the calls took at most this time, in ms
   * @param errors each with what was expected
   */
  record Figures(int calls, double p50, double p99, double max, List<String> errors) {

    private static Figures of(Calls calls) {
      List<Long> took = calls.took.stream().sorted().toList();
      return new Figures(
          took.size(), millis(took, 0.5), millis(took, 0.99), millis(took, 1), calls.errors);
    }

    private static double millis(List<Long> sorted, double share) {
      int index = (int) Math.ceil(sorted.size() * share) - 1;
      return sorted.isEmpty() ? Double.NaN : sorted.get(Math.max(0, index)) / 1e6;
    }

    @Override
    public String toString() {
      return "%.1f / %.1f / %.1f ms".formatted(p50, p99, max);
    }
  }

  InnocentClients(URI gateway) {
    this.gateway = gateway;
    try {
      http =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .localAddress(InetAddress.getByName("127.0.0.2"))
              .build();
    } catch (IOException unknown) {
      throw new IllegalStateException(unknown);
    }
    for (int i = 0; i < CLIENTS; i++) {
      threads.add(Thread.ofVirtual().start(this::work));
    }
  }

  /** Forgets what the clients have seen, and waits until they have made more calls. */
  Figures observe(int calls) {
    begin();
    return awaitCalls(calls);
  }

  /** Forgets what the clients have seen. */
  void begin() {
    current.set(new Calls());
  }

  /** Waits until the clients have made calls since {@link #begin}, and returns what they saw. */
  Figures awaitCalls(int calls) {
    Calls observed = current.get();
    try {
      await().atMost(MOST).until(() -> observed.count() >= calls);
    } catch (ConditionTimeoutException stuck) {
      observed.errors.add("only " + observed.count() + " calls in " + MOST);
    }
    return Figures.of(observed);
  }

  private void work() {
    while (!over) {
      try {
        workInOneSession();
      } catch (IOException failed) {
        current.get().errors.add(failed.toString());
      } catch (InterruptedException stopped) {
        return;
      }
    }
  }

  private void workInOneSession() throws IOException, InterruptedException {
    HttpResponse<String> opened = timed("", INITIALIZE, "protocolVersion");
    String session = opened.headers().firstValue("Mcp-Session-Id").orElse("");
    if (session.isEmpty()) {
      return;
    }
    for (int i = 0; i < CALLS_PER_SESSION && !over; i++) {
      int id = ids.incrementAndGet();
      String echo =
          """
          {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}\
          """
              .formatted(id);
      timed(session, echo, "\"id\":" + id + ",\"result\"");
      Thread.sleep(PAUSE_MILLIS);
    }
    http.send(request(session).DELETE().build(), HttpResponse.BodyHandlers.discarding());
  }

  private HttpResponse<String> timed(String session, String body, String expected)
      throws IOException, InterruptedException {
    Calls calls = current.get();
    long since = System.nanoTime();
    HttpResponse<String> answer =
        http.send(
            request(session).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
            HttpResponse.BodyHandlers.ofString(UTF_8));
    calls.took.add(System.nanoTime() - since);
    if (answer.statusCode() != 200 || !answer.body().contains(expected)) {
      calls.errors.add(answer.statusCode() + " " + answer.body());
      Thread.sleep(PAUSE_MILLIS);
    }
    return answer;
  }

  private HttpRequest.Builder request(String session) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway)
            .timeout(PATIENCE)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json");
    return session.isEmpty() ? request : request.header("Mcp-Session-Id", session);
  }

  @Override
  public void close() {
    over = true;
    threads.forEach(Thread::interrupt);
    http.shutdownNow();
  }
}

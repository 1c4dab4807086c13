package dev.holdfast.attacks;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * One client that attacks, on as many connections as it likes, all from one address. Whatever the
 * gateway does to a connection is fine: the attacker goes on with the next one.
 */
final class Attacker implements AutoCloseable {

  private static final Duration MOST = Duration.ofSeconds(30);

  private static final String BATCHES = "2025-03-26";

  private final URI gateway;
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final Queue<NonReadingClient> open = new ConcurrentLinkedQueue<>();
  private final CountDownLatch over = new CountDownLatch(1);

  /** Requests or connections, as an attack counts them. */
  private final AtomicLong sent = new AtomicLong();

  Attacker(URI gateway) {
    this.gateway = gateway;
  }

  /** A step of an attack, which the gateway may interrupt. */
  interface Step {
    void run() throws IOException, InterruptedException;
  }

  /** Runs a step once on each of many threads. */
  void onThreads(int count, Step step) {
    for (int i = 0; i < count; i++) {
      threads.add(Thread.ofVirtual().start(() -> attempt(step)));
    }
  }

  /** Repeats a step on each of many threads, until the attack is over. */
  void repeatOnThreads(int count, Step step) {
    onThreads(
        count,
        () -> {
          while (!isOver()) {
            attempt(step);
            sent.incrementAndGet();
          }
        });
  }

  private void attempt(Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException refused) {
      pause(10);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  boolean isOver() {
    return over.getCount() == 0 || Thread.currentThread().isInterrupted();
  }

  /** Waits, but not beyond the end of the attack. */
  void pause(long millis) {
    try {
      boolean _ = over.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** How often the attacker has done what it does. */
  long sent() {
    return sent.get();
  }

  void countSent() {
    sent.incrementAndGet();
  }

  /** Waits until the attacker has done something so many times. */
  void awaitSent(long count) {
    await(() -> sent.get() >= count);
  }

  /** Waits until all threads have done their step. */
  void awaitThreads() {
    await(() -> threads.stream().noneMatch(Thread::isAlive));
  }

  /** Gives up after a while: a gateway may let an attacker wait. */
  private static void await(Callable<Boolean> done) {
    try {
      Awaitility.await().atMost(MOST).until(done);
    } catch (ConditionTimeoutException slow) {
      // The other clients tell how the gateway is.
    }
  }

  /** A connection that stays open until the attack is over. */
  NonReadingClient connect() {
    NonReadingClient client = NonReadingClient.connect(gateway);
    open.add(client);
    return client;
  }

  /** Opens a session of the revision that has batches, as soon as the gateway lets it. */
  McpClient session() {
    McpClient opened = McpClient.at(gateway, BATCHES);
    while (opened.initialized().statusCode() != 200 && !isOver()) {
      pause(100);
      opened = McpClient.at(gateway, BATCHES);
    }
    return opened;
  }

  /** The head of a request to the gateway. */
  static byte[] head(String method, String headers) {
    return (method + " /mcp HTTP/1.1\nHost: localhost\n" + headers + "\n\n")
        .replace("\n", "\r\n")
        .getBytes(US_ASCII);
  }

  /** A call that the server never answers. */
  static String hold(String id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}"
        .formatted(id);
  }

  /** A call that the server answers with many messages of one size. */
  static String flood(int count, int bytes) {
    return """
    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood",\
    "arguments":{"count":%d,"bytes":%d}}}\
    """
        .formatted(count, bytes);
  }

  static String cancellation(int id) {
    return """
    {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\
    """
        .formatted(id);
  }

  /** A batch of so many messages. */
  static String batch(int size, IntFunction<String> message) {
    return IntStream.range(0, size).mapToObj(message).collect(Collectors.joining(",", "[", "]"));
  }

  @Override
  public void close() {
    stop();
  }

  /** Ends the attack and closes its connections. */
  void stop() {
    over.countDown();
    open.forEach(NonReadingClient::close);
    threads.forEach(Thread::interrupt);
  }
}

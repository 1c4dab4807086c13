package dev.holdfast.attacks;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.attacks.AttackTestbed.Store;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each test is one attack: one client sends what it should not, while others call a tool. No call
 * of the others may fail, and the gateway must survive. Each test prints its row of
 * docs/attacks.md.
 */
@Tag("alone")
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class AttacksIT {

  private static final int CALLS = 300;

  /** Within the limit on the size of a message. */
  private static final int LARGE = 4_000_000;

  private static final int MEGABYTE = 1_000_000;
  private static final Duration HEADS = Duration.ofSeconds(5);

  private static @Nullable AttackTestbed shared;

  /**
   * What an attacker does. It returns when the others should be observed until they have called.
   */
  private interface Attack {
    void run(Attacker attacker) throws IOException, InterruptedException;
  }

  @AfterAll
  static void stop() {
    if (shared != null) {
      shared.close();
      shared = null;
    }
  }

  /** The gateway of the row before, unless that row used another store or killed it. */
  private static AttackTestbed testbed(Store store) {
    AttackTestbed last = shared;
    if (last != null && last.store() == store && last.isRunning()) {
      return last;
    }
    stop();
    AttackTestbed next = new AttackTestbed(store);
    shared = next;
    return next;
  }

  private static void assertHarmless(Store store, String name, String sent, Attack attack)
      throws IOException, InterruptedException {
    AttackTestbed testbed = testbed(store);
    AttackRow row;
    try (InnocentClients others = new InnocentClients(testbed.url());
        Attacker attacker = new Attacker(testbed.url())) {
      others.observe(CALLS);
      InnocentClients.Figures before = others.observe(CALLS);
      long[] heap = {testbed.heap(), -1, -1};
      long[] redis = {testbed.redisBytes(), 0, 0};
      others.begin();
      attack.run(attacker);
      InnocentClients.Figures during = others.awaitCalls(CALLS);
      redis[1] = testbed.redisBytes();
      heap[1] = testbed.heap();
      attacker.stop();
      others.observe(CALLS);
      redis[2] = testbed.redisBytes();
      heap[2] = testbed.heap();
      row = new AttackRow(name, store, sent, before, during, heap, redis);
    }
    System.out.println(row);
    assertThat(testbed.isRunning()).as(testbed.output()).isTrue();
    assertThat(row.during().errors()).as(testbed.output()).isEmpty();
    assertThat(testbed.output()).doesNotContain("OutOfMemoryError");
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandUnfinishedBodies(Store store) throws Exception {
    assertHarmless(
        store, "unfinished bodies", "61 × 4 MB, no session", attacker -> bodies(attacker, 61));
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandManyUnfinishedBodies(Store store) throws Exception {
    assertHarmless(
        store,
        "many unfinished bodies",
        "500 × 4 MB, no session",
        attacker -> bodies(attacker, 500));
  }

  /** All bytes but the last one. The connections stay open. */
  private static void bodies(Attacker attacker, int count) {
    byte[] body = new byte[LARGE - 1];
    Arrays.fill(body, (byte) ' ');
    attacker.onThreads(
        count,
        () -> {
          NonReadingClient client = attacker.connect();
          client.send(
              head(
                  "POST", "Content-Type: application/json\nAccept: */*\nContent-Length: " + LARGE));
          client.send(body);
        });
    attacker.awaitThreads();
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandSlowHeads(Store store) throws Exception {
    assertHarmless(
        store,
        "slow heads",
        "1,000 heads, a byte a second each",
        attacker -> {
          byte[] beginning = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".getBytes(US_ASCII);
          attacker.onThreads(
              1000,
              () -> {
                NonReadingClient client = attacker.connect().send(beginning);
                attacker.countSent();
                while (!attacker.isOver()) {
                  attacker.pause(1000);
                  client.send(new byte[] {'x'});
                }
              });
          attacker.awaitSent(1000);
          attacker.pause(HEADS.toMillis());
        });
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandBatches(Store store) throws Exception {
    assertHarmless(
        store, "batches", "20 × 12,000 tools/list", attacker -> batches(attacker, 12_000, 20));
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandLargeBatches(Store store) throws Exception {
    assertHarmless(
        store,
        "large batches",
        "20 × 80,000 tools/list",
        attacker -> batches(attacker, 80_000, 20));
  }

  private static void batches(Attacker attacker, int size, int count) {
    McpClient session = attacker.session();
    String batch =
        batch(size, i -> "{\"jsonrpc\":\"2.0\",\"id\":" + i + ",\"method\":\"tools/list\"}");
    attacker.repeatOnThreads(2, () -> session.post(batch));
    attacker.awaitSent(count);
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandLongIds(Store store) throws Exception {
    assertHarmless(
        store,
        "long ids",
        "60 calls with ids of 1 MB, then 200 cancellations",
        attacker -> {
          McpClient session = attacker.session();
          attacker.onThreads(
              60,
              () -> {
                String id = "\"" + "x".repeat(MEGABYTE) + "\"";
                attacker.connect().post(session.session(), hold(id));
              });
          attacker.awaitThreads();
          for (int i = 0; i < 200; i++) {
            session.post(cancellation(i));
          }
        });
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandIdsWithEqualHashes(Store store) throws Exception {
    assertHarmless(
        store,
        "ids with equal hashes",
        "3 × 16,000 in a batch, from clients that leave",
        attacker -> {
          McpClient session = attacker.session();
          String batch =
              batch(
                  16_000,
                  i ->
                      "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/list\"}"
                          .formatted(withEqualHash(i)));
          attacker.onThreads(
              3,
              () -> {
                try (NonReadingClient client = attacker.connect()) {
                  client.post(session.session(), batch);
                }
              });
          attacker.awaitThreads();
        });
  }

  /** "Aa" and "BB" have the same hash. */
  private static String withEqualHash(int bits) {
    return IntStream.range(0, 14)
        .mapToObj(bit -> (bits >> bit & 1) == 0 ? "Aa" : "BB")
        .collect(Collectors.joining());
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandCancellations(Store store) throws Exception {
    assertHarmless(
        store,
        "cancellations",
        "5,000 calls in a batch, 20,000 cancellations in a batch, then 4,000 one by one",
        attacker -> {
          McpClient session = attacker.session();
          attacker.connect().post(session.session(), batch(5000, i -> hold(Integer.toString(i))));
          for (int i = 0; i < 60; i++) {
            attacker.connect().post(session.session(), hold(Integer.toString(100_000 + i)));
          }
          session.post(batch(20_000, i -> cancellation(200_000 + i)));
          attacker.repeatOnThreads(4, () -> session.post(cancellation(300_000)));
          attacker.awaitSent(4000);
        });
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandReplaysOfLargeEvents(Store store) throws Exception {
    assertHarmless(
        store,
        "replays of large events",
        "130 events of 1 MB, read from the start by four readers, 12 times",
        attacker -> {
          McpClient session = attacker.session();
          String start;
          try (var call = session.stream(flood(130, MEGABYTE))) {
            String first = call.event().id();
            call.rest();
            start = first.substring(0, first.indexOf('_')) + "_0-0";
          }
          attacker.repeatOnThreads(
              4,
              () -> {
                try (var replay = session.resume(start)) {
                  replay.rest();
                }
              });
          attacker.awaitSent(12);
        });
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandManySessions(Store store) throws Exception {
    assertHarmless(
        store,
        "sessions",
        "12,000 initialize on one connection, for at most 30 s",
        attacker -> {
          byte[] body =
              """
              {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":\
              "2025-11-25","capabilities":{},"clientInfo":{"name":"flood","version":"1"}}}\
              """
                  .getBytes(UTF_8);
          byte[] head =
              head(
                  "POST",
                  "Content-Type: application/json\n"
                      + "Accept: application/json, text/event-stream\nContent-Length: "
                      + body.length);
          NonReadingClient client = attacker.connect();
          attacker.onThreads(1, () -> client.in().transferTo(OutputStream.nullOutputStream()));
          attacker.onThreads(
              1,
              () -> {
                for (int i = 0; i < 12_000; i++) {
                  client.send(head).send(body);
                  attacker.countSent();
                }
              });
          attacker.awaitSent(12_000);
        });
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandForgedEventIds(Store store) throws Exception {
    assertHarmless(
        store,
        "forged event ids",
        "4,000 on 8 connections",
        attacker -> {
          McpClient session = attacker.session();
          Random random = new Random(7);
          attacker.repeatOnThreads(8, () -> session.resumeWhole(forged(random)));
          attacker.awaitSent(4000);
        });
  }

  /** Ids of streams and positions that do not exist, and texts that are no ids. */
  private static String forged(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(100) + "_" + random.nextLong(Long.MAX_VALUE) + "-" + 1;
      case 1 -> "g_" + Long.MAX_VALUE + "-" + Long.MAX_VALUE;
      case 2 -> "_-".repeat(1 + random.nextInt(1000));
      default -> "x".repeat(1 + random.nextInt(2000)) + "_0-0";
    };
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandLogFloods(Store store) throws Exception {
    assertHarmless(
        store,
        "log lines",
        "10,000 requests with a malformed Last-Event-ID or a wrong Host",
        attacker -> {
          String session = attacker.session().session();
          byte[] malformed =
              head(
                  "GET",
                  "Accept: text/event-stream\nLast-Event-ID: ?\nMcp-Session-Id: " + session + "x");
          byte[] wrong =
              "GET /mcp HTTP/1.1\r\nHost: evil.example\r\nAccept: text/event-stream\r\n\r\n"
                  .getBytes(US_ASCII);
          attacker.onThreads(
              4,
              () -> {
                NonReadingClient client = attacker.connect();
                attacker.onThreads(
                    1, () -> client.in().transferTo(OutputStream.nullOutputStream()));
                for (int i = 0; i < 1250; i++) {
                  client.send(malformed).send(wrong);
                }
              });
          attacker.awaitThreads();
        });
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandSlowReaders(Store store) throws Exception {
    assertHarmless(
        store,
        "slow readers",
        "200 that read nothing of 8 MB each",
        attacker -> {
          for (int each = 0; each < 4; each++) {
            String session = attacker.session().session();
            attacker.onThreads(50, () -> attacker.connect().post(session, flood(1000, 8000)));
          }
          attacker.awaitThreads();
          attacker.pause(HEADS.toMillis());
        });
  }

  private static byte[] head(String method, String headers) {
    return (method + " /mcp HTTP/1.1\nHost: localhost\n" + headers + "\n\n")
        .replace("\n", "\r\n")
        .getBytes(US_ASCII);
  }

  private static String hold(String id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}"
        .formatted(id);
  }

  private static String flood(int count, int bytes) {
    return """
    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood",\
    "arguments":{"count":%d,"bytes":%d}}}\
    """
        .formatted(count, bytes);
  }

  private static String cancellation(int id) {
    return """
    {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\
    """
        .formatted(id);
  }

  private static String batch(int size, IntFunction<String> message) {
    return IntStream.range(0, size).mapToObj(message).collect(Collectors.joining(",", "[", "]"));
  }
}

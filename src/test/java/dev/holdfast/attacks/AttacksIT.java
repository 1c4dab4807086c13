package dev.holdfast.attacks;

import static dev.holdfast.attacks.AttackRun.assertHarmless;
import static dev.holdfast.attacks.Attacker.batch;
import static dev.holdfast.attacks.Attacker.cancellation;
import static dev.holdfast.attacks.Attacker.head;
import static dev.holdfast.attacks.Attacker.hold;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.attacks.AttackTestbed.Store;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each test is one attack: one client sends what it should not, while others call a tool. No call
 * of the others may fail, and the gateway must survive. Each test prints its row of
 * docs/attacks.md.
 */
@Tag("alone")
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class AttacksIT {

  /** Within the limit on the size of a message. */
  private static final int LARGE = 4_000_000;

  private static final int MEGABYTE = 1_000_000;
  private static final Duration HEADS = Duration.ofSeconds(5);

  @AfterAll
  static void stop() {
    AttackRun.stop();
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandUnfinishedBodies(Store store) throws Exception {
    assertHarmless(
        store, "unfinished bodies", "61 × 4 MB, no session", attacker -> bodies(attacker, 61, ""));
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandManyUnfinishedBodies(Store store) throws Exception {
    assertHarmless(
        store,
        "many unfinished bodies",
        "500 × 4 MB, no session",
        attacker -> bodies(attacker, 500, ""));
  }

  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandUnfinishedBodiesOfASession(Store store) throws Exception {
    assertHarmless(
        store,
        "unfinished bodies of a session",
        "500 × 4 MB, one session",
        attacker -> bodies(attacker, 500, "\nMcp-Session-Id: " + attacker.session().session()));
  }

  /** All bytes but the last one. The connections stay open. */
  private static void bodies(Attacker attacker, int count, String header) {
    byte[] body = new byte[LARGE - 1];
    Arrays.fill(body, (byte) ' ');
    attacker.onThreads(
        count,
        () -> {
          NonReadingClient client = attacker.connect();
          client.send(
              head(
                  "POST",
                  "Content-Type: application/json\nAccept: */*\nContent-Length: "
                      + LARGE
                      + header));
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

  /** More sockets than one address may have, each with nearly the largest head. */
  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandHalfSentHeads(Store store) throws Exception {
    assertHarmless(
        store,
        "half-sent heads",
        "4,700 of the shortest headers on each of 2,500 connections, then nothing",
        attacker -> {
          byte[] half =
              ("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + "a:\r\n".repeat(4700))
                  .getBytes(US_ASCII);
          attacker.onThreads(2500, () -> attacker.connect().send(half));
          attacker.awaitThreads();
          attacker.pause(HEADS.toMillis());
        });
  }

  /** A plain answer has no stream that would bound what waits for its reader. */
  @Tag("attack")
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandUnreadAnswers(Store store) throws Exception {
    assertHarmless(
        store,
        "unread answers",
        "300 requests with answers of 4 MB that nobody reads",
        attacker -> {
          String session = attacker.session().session();
          String read =
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{}}";
          attacker.onThreads(300, () -> attacker.connect().post(session, read));
          attacker.awaitThreads();
          attacker.pause(2 * HEADS.toMillis());
        });
  }

  @ParameterizedTest
  @MethodSource("dev.holdfast.attacks.AttackRun#stores")
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
  @MethodSource("dev.holdfast.attacks.AttackRun#stores")
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
  @MethodSource("dev.holdfast.attacks.AttackRun#stores")
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
}

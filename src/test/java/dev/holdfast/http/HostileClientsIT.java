package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.HostileClient;
import dev.holdfast.testing.McpClient;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One client of a stranger's address attacks the packaged program, which has a small heap. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@SuppressWarnings("NullAway.Init") // JUnit calls startShared() first.
class HostileClientsIT {

  private static final String STRANGER = "127.0.0.2";
  private static final int LARGEST = 4 << 20;
  private static final byte[] ALL_BUT_ONE = new byte[LARGEST - 1];
  private static final String HEAD =
      """
      POST /mcp HTTP/1.1
      Host: localhost
      Accept: application/json, text/event-stream
      Content-Type: application/json
      Content-Length: %d

      """
          .replace("\n", "\r\n");
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

  private final Queue<HostileClient> strangers = new ConcurrentLinkedQueue<>();

  /** Closes no half head within a test. */
  private static Gateway shared;

  @BeforeAll
  static void startShared() {
    shared = start(Map.of("holdfast.http.head-timeout", "1h"));
  }

  @AfterAll
  static void stopShared() {
    shared.close();
  }

  @AfterEach
  void close() {
    strangers.forEach(HostileClient::close);
  }

  private static Gateway start(Map<String, String> settings) {
    return start(settings, "-Xmx256m");
  }

  private static Gateway start(Map<String, String> settings, String heap) {
    return Gateway.start(settings, heap, "-XX:TieredStopAtLevel=1");
  }

  private HostileClient stranger(Gateway gateway) {
    HostileClient client = HostileClient.connect(STRANGER, gateway.url());
    strangers.add(client);
    return client;
  }

  /** Sends all but the last byte of the largest body. */
  private HostileClient sendUnfinished(Gateway gateway) {
    return stranger(gateway).send(HEAD.formatted(LARGEST)).send(ALL_BUT_ONE);
  }

  private static void assertServes(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url());
    HttpResponse<String> pong = client.post(PING);
    assertThat(pong.statusCode()).as(gateway.output()).isEqualTo(200);
    client.delete();
  }

  /** Before, 61 of these ended the process: it held every body until its end. */
  @Test
  void shouldServeOthersDuringUnfinishedBodies() throws Exception {
    servesOthersDuringUnfinishedBodies(61);
  }

  @Test
  @Tag("long")
  void shouldServeOthersDuringManyUnfinishedBodies() throws Exception {
    servesOthersDuringUnfinishedBodies(500);
  }

  private void servesOthersDuringUnfinishedBodies(int bodies) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < bodies; i++) {
        threads.execute(() -> sendUnfinished(shared));
      }
      for (int i = 0; i < 20; i++) {
        assertServes(shared);
      }
    }

    // The first body still takes the share of its client.
    assertThat(sendUnfinished(shared).readUntil("from this client"))
        .startsWith("HTTP/1.1 503 ")
        .containsPattern("(?i)\r\nretry-after: [1-4]\r\n")
        .containsIgnoringCase("\r\nconnection: close\r\n");
    assertServes(shared);
    strangers.forEach(HostileClient::close);
    await().untilAsserted(() -> assertAcceptsLargeBody(shared));
  }

  /** The bytes of a client that left are given back. */
  private void assertAcceptsLargeBody(Gateway gateway) {
    HostileClient again = sendUnfinished(gateway).send(" ");
    // Zeros are no JSON, but all of them were read.
    assertThat(again.readUntil("-32700")).startsWith("HTTP/1.1 400 ");
  }

  /** Before, half a head stayed for two hours, and nothing limited the sockets of one address. */
  @Test
  void shouldCloseHalfHeadsAndTooManySockets() throws Exception {
    Map<String, String> settings =
        Map.of("holdfast.http.head-timeout", "1s", "holdfast.limits.connections-per-address", "5");
    try (Gateway gateway = start(settings)) {
      HostileClient silent = stranger(gateway);
      HostileClient half = stranger(gateway).send("POST /mcp HTTP/1.1\r\nHost: loc");
      HostileClient later = stranger(gateway);
      later.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").readUntil("version");
      HostileClient ahead = stranger(gateway);
      ahead.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he").readUntil("version");
      HostileClient idle = stranger(gateway);
      idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").readUntil("version");

      later.send("GET /he");

      assertThat(silent.readAll()).isEmpty();
      assertThat(half.readAll()).isEmpty();
      assertThat(later.readAll()).doesNotContain("HTTP");
      assertThat(ahead.readAll()).doesNotContain("HTTP");
      idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").readUntil("HTTP/1.1 200");
      for (int i = 0; i < 9; i++) {
        stranger(gateway);
      }
      assertThat(stranger(gateway).readAll()).isEmpty();
      assertServes(gateway);
    }
  }

  /** Before, nothing limited these, and each short header becomes several objects. */
  @Test
  void shouldLimitTheBytesOfHalfHeads() throws Exception {
    String half = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + "a:\r\n".repeat(4700);
    // Eighty are too many. There are more, since event loops do not read in this order.
    for (int i = 0; i < 200; i++) {
      stranger(shared).send(half);
    }

    assertThat(stranger(shared).send(half).readAll()).isEmpty();
    assertServes(shared);
    strangers.forEach(HostileClient::close);
    await()
        .ignoreExceptions() // A reset, until the bytes of the others are given back.
        .untilAsserted(() ->
            assertThat(stranger(shared).send(half + "\r\n").readUntil("HTTP/1.1 400"))
                .isNotEmpty());
  }

  /** Before, a process without event loops or memory stayed up and ignored SIGTERM. */
  @Test
  void shouldEndWhenTheHeapIsExhausted() throws Exception {
    Map<String, String> withoutLimit =
        Map.of(
            "holdfast.limits.message-bytes", "256M",
            "holdfast.limits.request-bytes", "1T");
    try (Gateway gateway = start(withoutLimit, "-Xmx64m")) {
      int megabytes = 80;
      int length = megabytes << 20;
      HostileClient client = stranger(gateway).send(HEAD.formatted(length));
      byte[] piece = new byte[1 << 20];
      for (int i = 0; i < megabytes; i++) {
        client.send(piece);
      }

      assertThat(gateway.awaitEnd(30)).isTrue();
      assertThat(gateway.exitCode()).isEqualTo(3);
      assertThat(gateway.output()).contains("OutOfMemoryError");
    }
  }
}

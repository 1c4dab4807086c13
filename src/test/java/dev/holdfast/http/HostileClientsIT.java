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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One client of a stranger's address attacks the packaged program, which has a small heap. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
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

  @AfterEach
  void close() {
    strangers.forEach(HostileClient::close);
  }

  private static Gateway start(Map<String, String> settings) {
    return Gateway.start(settings, "-Xmx256m", "-XX:TieredStopAtLevel=1");
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
  @ParameterizedTest
  @ValueSource(ints = {61, 500})
  void shouldServeOthersDuringUnfinishedBodies(int bodies) throws Exception {
    try (Gateway gateway = start(Map.of())) {
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < bodies; i++) {
          threads.execute(() -> sendUnfinished(gateway));
        }
        for (int i = 0; i < 20; i++) {
          assertServes(gateway);
        }
      }

      // The first body still takes the share of its address.
      assertThat(sendUnfinished(gateway).readUntil("address"))
          .startsWith("HTTP/1.1 503 ")
          .containsIgnoringCase("\r\nretry-after: 1\r\n")
          .containsIgnoringCase("\r\nconnection: close\r\n");
      assertServes(gateway);
      strangers.forEach(HostileClient::close);
      await().untilAsserted(() -> assertAcceptsLargeBody(gateway));
    }
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
    try (Gateway gateway = start(Map.of("holdfast.http.head-timeout", "1h"))) {
      String half = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + "a:\r\n".repeat(4700);
      // Eighty are too many. There are more, since event loops do not read in this order.
      for (int i = 0; i < 200; i++) {
        stranger(gateway).send(half);
      }

      assertThat(stranger(gateway).send(half).readAll()).isEmpty();
      assertServes(gateway);
      strangers.forEach(HostileClient::close);
      await()
          .ignoreExceptions() // A reset, until the bytes of the others are given back.
          .untilAsserted(() ->
              assertThat(stranger(gateway).send(half + "\r\n").readUntil("HTTP/1.1 400"))
                  .isNotEmpty());
    }
  }

  /** Before, a process without event loops or memory stayed up and ignored SIGTERM. */
  @Test
  void shouldEndWhenTheHeapIsExhausted() throws Exception {
    Map<String, String> withoutLimit =
        Map.of(
            "holdfast.limits.message-bytes", "256M",
            "holdfast.limits.request-bytes", "1T");
    try (Gateway gateway = start(withoutLimit)) {
      int length = 250 << 20;
      HostileClient client = stranger(gateway).send(HEAD.formatted(length));
      byte[] piece = new byte[1 << 20];
      for (int i = 0; i < 250; i++) {
        client.send(piece);
      }

      assertThat(gateway.awaitEnd(30)).isTrue();
      assertThat(gateway.exitCode()).isEqualTo(3);
      assertThat(gateway.output()).contains("OutOfMemoryError");
    }
  }
}

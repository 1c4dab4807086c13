package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.SseClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Before the body timeout, a client that never completed its request held a connection forever. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.LowLimits.class)
class SlowBodyTest {

  private static final byte[] SPACE = {' '};

  @Test
  void shouldAnswer408ToASlowBody() throws Exception {
    SseClient session = SseClient.at(GatewayUrl.of("/sse"));
    try (NonReadingClient dripping = begin("/mcp");
        NonReadingClient silent = begin("/mcp");
        NonReadingClient older = begin(session.endpoint())) {
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> dripping.in().available() > 0 || !sendByte(dripping));

      assertTimedOut(dripping.readUntil("too long"));
      // The gateway closes the connection without reading the rest of the body.
      assertTimedOut(new String(silent.in().readAllBytes(), ISO_8859_1));
      assertTimedOut(new String(older.in().readAllBytes(), ISO_8859_1));
    } finally {
      session.stream().cut();
      session.delete();
    }
  }

  /** A stranger's body is not read at all. */
  @Test
  void shouldRefuseAnUnknownSessionBeforeTheBody() throws Exception {
    String unknown = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
    String header = "Mcp-Session-Id: " + unknown + "\n";
    try (NonReadingClient newer = NonReadingClient.connect(GatewayUrl.mcp());
        NonReadingClient older = begin("/messages/" + unknown)) {
      newer.send(head("/mcp", header));

      for (NonReadingClient refused : List.of(newer, older)) {
        assertThat(new String(refused.in().readAllBytes(), ISO_8859_1))
            .startsWith("HTTP/1.1 404 ")
            .containsIgnoringCase("\r\nconnection: close\r\n")
            .contains("Session not found");
      }
    }
  }

  /** Sends one more byte. Returns false if the gateway has closed the connection. */
  private static boolean sendByte(NonReadingClient dripping) {
    try {
      dripping.send(SPACE);
      return true;
    } catch (UncheckedIOException closed) {
      return false;
    }
  }

  private static NonReadingClient begin(String path) {
    return NonReadingClient.connect(GatewayUrl.mcp()).send(head(path, ""));
  }

  private static byte[] head(String path, String header) {
    return """
    POST %s HTTP/1.1
    Host: localhost
    Accept: application/json, text/event-stream
    Content-Type: application/json
    Content-Length: 100000
    %s
    """
        .formatted(path, header)
        .replace("\n", "\r\n")
        .getBytes(ISO_8859_1);
  }

  private static void assertTimedOut(String answer) {
    assertThat(answer)
        .startsWith("HTTP/1.1 408 ")
        .containsIgnoringCase("\r\nconnection: close\r\n")
        .contains("\r\n\r\n{\"jsonrpc\":\"2.0\"", "-32000", "too long");
  }
}

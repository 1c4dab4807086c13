package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.NonReadingClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that begin a request and do not come to its end held a place for as long as they did. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.Impatient.class)
class SlowBodyTest {

  private static final byte[] DROP = {' '};

  @Test
  void shouldTellAClientThatItIsLate() throws Exception {
    try (NonReadingClient dripping = begin("/mcp");
        NonReadingClient silent = begin("/mcp");
        NonReadingClient older = begin("/messages/0123456789abcdefghijklmnopqrstuv")) {
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> dripping.in().available() > 0 || !takes(dripping));

      assertLate(dripping.readUntil("too long"));
      // To the end: the rest of the body is not waited for.
      assertLate(new String(silent.in().readAllBytes(), ISO_8859_1));
      assertLate(new String(older.in().readAllBytes(), ISO_8859_1));
    }
  }

  /** Whether the connection takes another drop; it may be closed at any moment. */
  private static boolean takes(NonReadingClient dripping) {
    try {
      dripping.send(DROP);
      return true;
    } catch (UncheckedIOException closed) {
      return false;
    }
  }

  private static NonReadingClient begin(String path) {
    return NonReadingClient.connect(Endpoints.usual()).send(head(path));
  }

  private static byte[] head(String path) {
    return """
    POST %s HTTP/1.1
    Host: localhost
    Accept: application/json, text/event-stream
    Content-Type: application/json
    Content-Length: 100000

    """
        .formatted(path)
        .replace("\n", "\r\n")
        .getBytes(ISO_8859_1);
  }

  private static void assertLate(String answer) {
    assertThat(answer)
        .startsWith("HTTP/1.1 408 ")
        .containsIgnoringCase("\r\nconnection: close\r\n")
        .contains("\r\n\r\n{\"jsonrpc\":\"2.0\"", "-32000", "too long");
  }
}

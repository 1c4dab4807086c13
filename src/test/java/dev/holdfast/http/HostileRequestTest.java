package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.HostileClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that the gateway refuses what another server may read as a different request. A proxy in
 * front would otherwise let a client smuggle requests past it.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class HostileRequestTest {

  private static final String START = "POST /mcp HTTP/1.1\n";
  private static final String HOST = "Host: localhost\n";
  private static final String CHUNKS = "5\n{\"a\":\n2\n1}\n0\n\n";

  private static String answer(String request) {
    return answer(GatewayUrl.mcp(), request);
  }

  private static String answer(URI url, String request) {
    try (HostileClient client = HostileClient.connect(url)) {
      return client.send(request.replace("\n", "\r\n")).readAll();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        START + HOST + "Content-Length: 3\nTransfer-Encoding: chunked\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding: chunked\nContent-Length: 3\n\n" + CHUNKS,
        START + HOST + "Content-Length: 3\nContent-Length: 4\n\n1234",
        START + HOST + "Content-Length: -1\n\n",
        START + HOST + "Content-Length: +3\n\n123",
        START + HOST + "Transfer-Encoding: xchunked\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding: identity\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding: chunked, identity\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding: gzip, chunked\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n" + CHUNKS,
        START + HOST + "Transfer-Encoding : chunked\n\n" + CHUNKS,
        "POST /mcp HTTP/1.0\n" + HOST + "Transfer-Encoding: chunked\n\n" + CHUNKS,
        "\0" + START + HOST + "Content-Length: 2\n\n{}",
        "\u0001\u007f" + START + HOST + "Content-Length: 2\n\n{}",
      })
  void shouldRefuseAnAmbiguousRequest(String request) {
    assertThat(answer(request)).matches("(?s)HTTP/1.[01] 400 .*").doesNotContain("HTTP/1.1 2");
  }

  /** CVE-2026-33870: the server ended the extension at the line break, a proxy at the quote. */
  @Test
  void shouldRefuseAQuotedLineBreakInAChunkExtension() {
    String smuggled = "GET /health HTTP/1.1\n" + HOST + "\n";
    String request =
        START
            + HOST
            + "Accept: application/json, text/event-stream\nContent-Type: application/json\n"
            + "Transfer-Encoding: chunked\n\n1;a=\"\nX\n0\n\n"
            + smuggled
            + "\"\nX\n0\n\n";

    assertThat(answer(request)).doesNotContain("HTTP/1.1 2");
  }

  /** Before, the framework logged the path of such a request, with the session id in it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Host: localhost\nHost: localhost\n",
        "Host: localhost\nHost: elsewhere.example\n",
        "Host: local host\n",
        "Host: localhost:notaport\n",
      })
  void shouldRequireOneValidHost(String host) {
    for (String path : new String[] {"/messages/0123456789abcdefghijklmnopqrstuv", "/q/health"}) {
      assertThat(answer("GET " + path + " HTTP/1.1\n" + host + "\n")).startsWith("HTTP/1.1 400 ");
    }
  }

  /** A page can have any name as its own host, but no address. */
  @Test
  void shouldRefuseForeignHostsOnAllPaths() {
    for (URI url :
        List.of(
            GatewayUrl.of("/mcp"),
            GatewayUrl.of("/health"),
            GatewayUrl.management("/q/health/ready"),
            GatewayUrl.management("/q/metrics"),
            GatewayUrl.management("/q/x"))) {
      String request = "GET " + url.getPath() + " HTTP/1.1\nHost: evil.example\n";
      assertThat(answer(url, request + "Connection: close\n\n"))
          .as(url.toString())
          .startsWith("HTTP/1.1 403 ")
          .contains("allowed-hosts");
    }
  }

  /** Before, a page that an operator visits could read health and metrics. */
  @Test
  void shouldShowNoPageWhatIsForOperators() {
    for (String path : List.of("/q/health/ready", "/q/metrics")) {
      String request = "GET " + path + " HTTP/1.1\n" + HOST + "Connection: close\nOrigin: ";
      URI url = GatewayUrl.management(path);

      assertThat(answer(url, request + "https://evil.example\n\n"))
          .startsWith("HTTP/1.1 403 ")
          .doesNotContainIgnoringCase("access-control");
      assertThat(answer(url, request + "http://localhost:3000\n\n"))
          .startsWith("HTTP/1.1 200 ")
          .doesNotContainIgnoringCase("access-control");
    }
  }

  /** One connection of HTTP/2 would carry many requests, which nothing counts per connection. */
  @Test
  void shouldNotUpgradeToHttp2() {
    String upgrade = "Connection: upgrade, http2-settings\nUpgrade: h2c\nHTTP2-Settings: \n\n";

    try (HostileClient client = HostileClient.connect(GatewayUrl.mcp())) {
      String request = "GET /health HTTP/1.1\n" + HOST + upgrade;
      assertThat(client.send(request.replace("\n", "\r\n")).readUntil("\r\n"))
          .startsWith("HTTP/1.1 200 ");
    }
    assertThat(answer("PRI * HTTP/2.0\n\nSM\n\n")).matches("(?s)(HTTP/\\S+ [45].*)?");
  }
}

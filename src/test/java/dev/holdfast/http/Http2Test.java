package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** HTTP/2, which is off by default and on in this profile. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.LowLimits.class)
class Http2Test {

  @Test
  void shouldServeHttp2() throws Exception {
    // HTTP/2 has no Host header. It sends the host as a pseudo-header.
    McpClient client = McpClient.at(GatewayUrl.mcp());
    HttpRequest ping =
        HttpRequest.newBuilder(GatewayUrl.mcp())
            .version(HttpClient.Version.HTTP_2)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("Mcp-Session-Id", client.session())
            .POST(BodyPublishers.ofString("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}"))
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> pong = http.send(ping, BodyHandlers.ofString());

      assertThat(pong.version()).isEqualTo(HttpClient.Version.HTTP_2);
      assertThat(pong.statusCode()).isEqualTo(200);
      assertThat(pong.headers().firstValue("Content-Type").orElseThrow())
          .startsWith("application/json");
    }
    client.delete();
  }
}

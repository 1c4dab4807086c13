package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FrameStream;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks HTTP with SSE behind a proxy that serves the gateway below a path. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Followed.class)
class ForwardedPrefixTest {

  @ParameterizedTest
  @CsvSource({
    "/sse,                  /gateway,  /gateway/messages/",
    "/sse,                  /gateway/, /gateway/messages/",
    "/servers/scripted/sse, /gateway,  /gateway/servers/scripted/messages/",
    "/sse,                  /,         /messages/"
  })
  void shouldSendTheMessagesUrlThatTheProxyServes(String path, String prefix, String messages)
      throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest get =
          HttpRequest.newBuilder(GatewayUrl.of(path))
              .header("Accept", "text/event-stream")
              .header("X-Forwarded-Prefix", prefix)
              .build();
      try (FrameStream stream = new FrameStream(http.send(get, BodyHandlers.ofInputStream()))) {
        assertThat(stream.event().data()).startsWith(messages);
      }
    }
  }
}

package dev.holdfast.oauth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.BrowserVisit;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class LoopbackRedirectTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Vertx vertx = Vertx.vertx();
  @AutoClose private final LoopbackRedirect redirect = new LoopbackRedirect(vertx, "s3cret");

  LoopbackRedirectTest() throws IOException {}

  @AfterEach
  void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private int visit(String pathAndQuery) {
    return BrowserVisit.open(redirect.uri().resolve(pathAndQuery)).statusCode();
  }

  @Test
  void shouldTakeOneAnswer() throws Exception {
    assertThat(visit("/callback?code=a%2Bb&state=s3cret&iss=https%3A%2F%2Fi")).isEqualTo(200);
    assertThat(visit("/callback?code=other&state=s3cret")).isEqualTo(400);

    assertThat(redirect.await(LONG)).containsEntry("code", "a+b").containsEntry("iss", "https://i");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/callback?code=a",
        "/callback?code=a&state=",
        "/callback?code=a&state=S3CRET",
        "/callback?code=a&state=x&state=s3cret",
        "/callback?code=%zz&state=s3cret",
        "/other?code=a&state=s3cret",
        "/favicon.ico"
      })
  void shouldRefuseAnyOtherRequest(String request) {
    // URI does not allow %zz.
    assertThat(status("GET " + request + " HTTP/1.1\r\n\r\n")).contains("400 Bad Request");
    assertThat(status("POST " + request + " HTTP/1.1\r\n\r\n")).contains("400 Bad Request");

    assertThatExceptionOfType(TimeoutException.class)
        .isThrownBy(() -> redirect.await(Duration.ofMillis(1)));
  }

  @Test
  void shouldRefuseAHeadThatIsTooLong() {
    String filler = "a".repeat(LoopbackRedirect.MAX_HEAD);

    String head = "GET /callback?code=" + filler + "&state=s3cret HTTP/1.1\r\n\r\n";

    assertThat(status(head)).doesNotContain("200 OK");
    assertThatExceptionOfType(TimeoutException.class)
        .isThrownBy(() -> redirect.await(Duration.ofMillis(1)));
  }

  /** A browser opens connections that it may never use. */
  @Test
  void shouldAnswerWhileAnotherConnectionIsSilent() throws IOException {
    URI uri = redirect.uri();
    try (Socket silent = new Socket(uri.getHost(), uri.getPort())) {
      assertThat(silent.isConnected()).isTrue();
      assertThat(visit("/callback?code=a&state=s3cret")).isEqualTo(200);
    }
  }

  @Test
  void shouldBoundConnectionsAndCountOnlyOpenOnes() throws IOException {
    URI uri = redirect.uri();
    String request = "GET /callback?code=a&state=s3cret HTTP/1.1\r\n\r\n";
    List<Socket> silent = new ArrayList<>();
    for (int i = 0; i < LoopbackRedirect.MAX_CONNECTIONS; i++) {
      silent.add(new Socket(uri.getHost(), uri.getPort()));
    }

    assertThat(status(request)).isEmpty();
    for (Socket each : silent) {
      each.close();
    }

    await().untilAsserted(() -> assertThat(status(request)).contains("200 OK"));
  }

  @Test
  void shouldListenNoMoreAfterTheEnd() {
    redirect.close();

    // The event loop closes the socket.
    await()
        .untilAsserted(() ->
            assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(
                    () -> new Socket(redirect.uri().getHost(), redirect.uri().getPort()).close()));
  }

  private String status(String request) {
    URI uri = redirect.uri();
    try (Socket browser = new Socket(uri.getHost(), uri.getPort())) {
      browser.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return new String(browser.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    } catch (IOException reset) {
      return "";
    }
  }
}

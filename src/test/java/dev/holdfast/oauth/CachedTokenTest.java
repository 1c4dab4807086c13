package dev.holdfast.oauth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.testing.ScriptedServer;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tokens of a real endpoint over HTTP, and their renewal by a clock of the test. */
class CachedTokenTest {

  private final Vertx vertx = Vertx.vertx();
  private final AtomicLong nanos = new AtomicLong();

  @AfterEach
  void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static ScriptedServer.Script answer(int status, String body) {
    return (_, wire) -> wire.answer(status, "application/json", body);
  }

  private static String token(String value) {
    return "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":100,\"x\":[1]}"
        .formatted(value);
  }

  private TokenEndpoint endpoint(URI url) {
    return new TokenEndpoint(vertx, url, "a b", "s:1", Duration.ofSeconds(20), _ -> {});
  }

  private CachedToken tokens(ScriptedServer server) {
    TokenEndpoint endpoint = endpoint(server.url());
    return new CachedToken(
        () -> endpoint.request(Map.of("grant_type", "client_credentials")), nanos::get);
  }

  private void pass(int seconds) {
    nanos.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }

  @Test
  void shouldRenewBeforeTheEndAndSurviveFailures() {
    try (ScriptedServer server =
        ScriptedServer.playing(
            answer(200, token("one")),
            answer(500, "{}"),
            answer(200, token("two")),
            answer(401, "{\"error\":\"invalid_client\"}"))) {
      CachedToken tokens = tokens(server);

      assertThat(tokens.get().value()).isEqualTo("one");
      assertThat(tokens.get().value()).isEqualTo("one");
      assertThat(server.requests()).hasSize(1);
      assertThat(server.requests().getFirst().body()).isEqualTo("grant_type=client_credentials");
      assertThat(server.requests().getFirst().headers())
          .containsEntry("authorization", "Basic YStiOnMlM0Ex");

      pass(81);
      assertThat(tokens.get().value()).isEqualTo("one");
      assertThat(tokens.get().value()).as("not asked again at once").isEqualTo("one");
      assertThat(server.requests()).hasSize(2);
      pass(2);
      assertThat(tokens.get().value()).isEqualTo("two");

      tokens.forget("one");
      assertThat(tokens.get().value()).isEqualTo("two");
      tokens.forget("two");
      assertThatExceptionOfType(TokenException.class)
          .isThrownBy(tokens::get)
          .withMessage("status 401 invalid_client");
    }
  }

  @Test
  void shouldRefuseWhatIsNoToken() {
    for (String body :
        new String[] {
          "", "[]", "{\"access_token\":\"a\"}", token("a\\r\\nb"), " ".repeat(70_000) + token("a")
        }) {
      try (ScriptedServer server = ScriptedServer.playing(answer(200, body));
          TokenEndpoint endpoint = endpoint(server.url())) {
        assertThatExceptionOfType(TokenException.class)
            .isThrownBy(() -> endpoint.request(Map.of()));
      }
    }
  }
}

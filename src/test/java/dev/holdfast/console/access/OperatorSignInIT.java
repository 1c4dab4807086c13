package dev.holdfast.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.console.RawAnswer;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Ports;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sign-in on the port of health and metrics. */
class OperatorSignInIT extends OperatorSignInContract {

  private static final AccessKey KEY = AccessKey.random();

  @Override
  URI target(Gateway gateway) {
    return gateway.url("/q/health");
  }

  @Override
  Map<String, String> more() {
    return Map.of();
  }

  private static Map<String, String> named() {
    return Map.of(
        "holdfast.auth.keys.operator.hash", KEY.hash(),
        "holdfast.auth.keys.operator.scopes", "holdfast:view",
        "holdfast.operators.console-url", "https://mcp.example.com/console/");
  }

  /** The gateway does not allow this name and this origin to clients. */
  @Test
  void shouldAnswerUnderItsOwnName() throws IOException {
    try (Gateway gateway = Gateway.start(named())) {
      URI signIn = gateway.url("/q/health").resolve("/console/console/sign-in");
      Map<String, String> own =
          Map.of(
              "Host", "mcp.example.com",
              "Origin", "https://mcp.example.com",
              "Content-Type", "application/json");
      String body = "{\"key\":\"" + KEY.value() + "\"}";

      RawAnswer answer = RawAnswer.to(signIn, "POST", own, body);

      assertThat(answer.status()).as(answer.body()).isEqualTo(204);
      assertThat(answer.header("Set-Cookie")).startsWith("__Host-").contains("Secure");
      assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
      Map<String, String> foreign = new HashMap<>(own);
      foreign.put("Origin", "https://evil.example");
      assertThat(RawAnswer.to(signIn, "POST", foreign, body).status()).isEqualTo(403);
      foreign.put("Origin", "https://mcp.example.com");
      foreign.put("Host", "evil.example");
      assertThat(RawAnswer.to(signIn, "POST", foreign, body).status()).isEqualTo(403);
    }
  }

  @Test
  void shouldSayThatTheProviderIsAway() throws IOException {
    Map<String, String> settings =
        Map.of(
            "holdfast.auth.public-url", "https://mcp.example.com",
            "holdfast.auth.issuers.away.url", "http://127.0.0.1:" + Ports.free(),
            "holdfast.operators.console-url", "http://localhost/",
            "holdfast.operators.client-id", "console");
    try (Gateway gateway = Gateway.start(settings)) {
      URI signIn = gateway.url("/q/health").resolve("/console/sign-in");

      RawAnswer answer = RawAnswer.to(signIn, "GET", Map.of("Host", "localhost"));

      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.header("Set-Cookie")).isEmpty();
      await().until(() -> gateway.output().contains("operators cannot sign in"));
    }
  }
}

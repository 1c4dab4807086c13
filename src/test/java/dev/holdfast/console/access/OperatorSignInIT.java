package dev.holdfast.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.console.RawAnswer;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Ports;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sign-in on the port of health and metrics. */
class OperatorSignInIT extends OperatorSignInContract {

  @Override
  URI target(Gateway gateway) {
    return gateway.url("/q/health");
  }

  @Override
  Map<String, String> more() {
    return Map.of();
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

package dev.holdfast.console.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.console.RawAnswer;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sign-in on the port for clients. */
class OperatorMainPortIT extends OperatorSignInContract {

  private static final AccessKey KEY = AccessKey.random();

  @Override
  URI target(Gateway gateway) {
    return gateway.url();
  }

  /** Limits for clients, which do not concern operators. */
  @Override
  Map<String, String> more() {
    return Map.of(
        "holdfast.operators.port", "main",
        "holdfast.http.allowed-origins", "https://other.example",
        "quarkus.http.access-log.enabled", "true");
  }

  @Override
  Map<String, String> operators(OpenIdProvider at) {
    return at.confidentialOperatorSettings(console);
  }

  @Test
  void shouldServeTheConsoleBelowItsPathOnly() throws IOException {
    Gateway gateway = gateways.getFirst();
    Map<String, String> own = Map.of("Host", console.getAuthority());
    assertThat(RawAnswer.to(gateway.url("/operators/"), "GET", own).status()).isEqualTo(200);
    for (String path :
        List.of("/", "/console/status", "/console/me", "/console/console.js", "/operators")) {
      assertThat(RawAnswer.to(gateway.url(path), "GET", own).status()).as(path).isIn(401, 404);
    }
    // Paths of clients, which an ingress for the console must not lead to.
    for (String path : List.of("/operators/../mcp", "/operators/%2e%2e/mcp")) {
      assertThat(
              RawAnswer.to(URI.create(gateway.url("/") + path.substring(1)), "GET", own).status())
          .as(path)
          .isEqualTo(404);
    }
  }

  @Test
  void shouldLeaveClientsWhatTheyHave() throws IOException {
    Browser browser = open();
    browser.signIn(OPERATOR);
    Gateway gateway = gateways.getFirst();
    McpClient client = McpClient.at(gateway.url(), CLIENT).ready();
    assertThat(client.ask("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}")).contains("result");
    // A cookie of an operator is no key of a client.
    RawAnswer refused =
        RawAnswer.to(
            gateway.url(),
            "POST",
            Map.of(
                "Cookie", "holdfast-operator=x",
                "Content-Type", "application/json",
                "Accept", "application/json, text/event-stream"),
            McpClient.initialize(McpClient.NEWEST, "x"));
    assertThat(refused.status()).isEqualTo(401);
  }

  @Test
  void shouldLetNoOtherPageReadAnAnswer() throws IOException {
    Browser browser = open();
    for (String method : List.of("OPTIONS", "GET", "POST")) {
      RawAnswer answer =
          browser.send(
              method,
              "console/status",
              Map.of(
                  "Origin", "https://other.example",
                  "Access-Control-Request-Method", "GET",
                  "Content-Type", "application/json"),
              "");
      assertThat(answer.status()).as(method).isIn(403, 404, 405);
      assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
    }
  }

  /** The address is a loopback one, and requests need no key. */
  @Test
  void shouldNeverServeItWithoutSignIn() throws IOException {
    try (Gateway gateway = Gateway.start(Map.of())) {
      for (String path : List.of("/", "/console/", "/console/status", "/console/me")) {
        assertThat(RawAnswer.to(gateway.url(path), "GET", Map.of()).status())
            .as(path)
            .isEqualTo(404);
      }
    }
    try (Gateway gateway =
        Gateway.start(
            Map.of(
                "holdfast.console", "off",
                "holdfast.auth.keys.operator.hash", KEY.hash(),
                "holdfast.operators.console-url", "http://localhost/operators/",
                "holdfast.operators.port", "main"))) {
      assertThat(
              RawAnswer.to(gateway.url("/operators/"), "GET", Map.of("Host", "localhost")).status())
          .isIn(401, 404);
    }
  }
}

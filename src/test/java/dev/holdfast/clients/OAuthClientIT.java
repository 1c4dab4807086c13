package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.Ports;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The official TypeScript SDK logs in by itself: it finds the issuer by the gateway's 401,
 * registers, and calls a tool whose stream outlives its token.
 */
@Timeout(120)
class OAuthClientIT {

  /** The tokens for this scope live for four seconds. */
  private static final String BRIEF = "brief";

  private static final int STEPS = 60;

  @Test
  void shouldLogInAndGoOnWhenTheTokenExpiresInTheMiddleOfACall() {
    int port = Ports.free();
    try (OpenIdProvider issuer = OpenIdProvider.start();
        NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "quarkus.http.port",
                    Integer.toString(port),
                    "holdfast.upstream.url",
                    server.url().toString(),
                    "holdfast.upstream.scope",
                    BRIEF,
                    "holdfast.auth.issuers.test.url",
                    issuer.issuer(),
                    "holdfast.auth.public-url",
                    "http://127.0.0.1:" + port))) {
      TypeScriptClient client =
          TypeScriptClient.call(
              gateway.url(),
              "count",
              "{\"n\":%d,\"intervalMs\":150}".formatted(STEPS),
              "--oauth",
              "2");

      client.hasCounted(STEPS);
      // One for the log-in, one at least since the call began.
      assertThat(client.renewals()).as("%s", client).isGreaterThan(1);
    }
  }
}

package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the log of a packaged program says at the start. */
class StartReportIT {

  @Test
  void shouldSayWhatTheGatewayIs() throws IOException {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url",
                    "http://127.0.0.1:" + server.getLocalPort() + "/mcp",
                    "holdfast.upstreams.away.url",
                    "http://127.0.0.1:1/mcp",
                    "holdfast.upstreams.unknown.url",
                    "http://host.invalid/mcp",
                    "holdfast.upstreams.program.command",
                    "sh -c exit",
                    "holdfast.upstreams.missing.command",
                    "nosuchprogram --stdio",
                    "holdfast.limits.sessions",
                    "77"))) {
      String root = gateway.url("").toString().replaceFirst("/$", "");

      await()
          .untilAsserted(() ->
              assertThat(gateway.output())
                  .contains(
                      "serving url=" + root + "/mcp upstream=default server=http",
                      "serving url=" + root + "/servers/away/mcp upstream=away server=http",
                      "serving url=" + root + "/servers/missing/mcp upstream=missing server=stdio",
                      "sessions and events are in memory, and lost at a restart",
                      "requests with another Host are refused allowed-hosts=[localhost]",
                      "web pages of others are refused allowed-origins=[localhost]",
                      "limits other than the default: sessions=77",
                      "upstream found upstream=default",
                      "upstream found upstream=program",
                      "upstream not found upstream=away: no connection to 127.0.0.1:1: Connection"
                          + " refused",
                      "upstream not found upstream=unknown: unknown host host.invalid",
                      "upstream not found upstream=missing: no program nosuchprogram"));
      assertThat(gateway.output()).doesNotContain("Profile prod", "Installed features");
    }
  }
}

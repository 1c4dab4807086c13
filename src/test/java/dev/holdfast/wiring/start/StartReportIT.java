package dev.holdfast.wiring.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
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
                      "events are kept in memory max-bytes=",
                      "requests are accepted only for these hosts allowed-hosts=[localhost]",
                      "web pages are accepted only from these origins allowed-origins=[localhost]",
                      "requests need no key: everybody who reaches the port may use this gateway",
                      "limits set by the configuration sessions=77",
                      "upstream is up upstream=default",
                      "upstream is up upstream=program",
                      "upstream is down upstream=away reason=no connection to 127.0.0.1:1:"
                          + " Connection refused",
                      "upstream is down upstream=unknown reason=unknown host host.invalid",
                      "upstream is down upstream=missing reason=no program nosuchprogram: install"
                          + " it"));
      assertThat(gateway.output()).doesNotContain("Profile prod", "Installed features");
    }
  }

  @Test
  void shouldSayWhereTheConsoleIs() {
    int port = Ports.free();
    try (Gateway gateway =
        Gateway.start(Map.of("quarkus.management.port", Integer.toString(port)))) {
      await()
          .untilAsserted(() ->
              assertThat(gateway.output())
                  .containsPattern("console url=http://[^ ]+:" + port + "/"));
    }
  }

  @Test
  void shouldNotShowThePasswordOfRedis() {
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.store",
                    "redis",
                    "holdfast.console",
                    "off",
                    "quarkus.redis.hosts",
                    redis.url() + "?client=secret"))) {
      await()
          .untilAsserted(() ->
              assertThat(gateway.output())
                  .contains("sessions and events are in Redis servers=" + redis.url()));

      assertThat(gateway.output()).doesNotContain("secret", "console url");
    }
  }

  @Test
  void shouldHideSecretsInUrls() {
    assertThat(StartReport.withoutSecrets("redis://me:p/w@a:1?password=x,rediss://:pw@b:2/1"))
        .isEqualTo("redis://a:1,rediss://b:2/1");
    assertThat(StartReport.withoutSecrets(null)).isEqualTo("the default");
  }
}

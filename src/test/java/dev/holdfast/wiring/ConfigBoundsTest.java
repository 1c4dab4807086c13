package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.http.origin.HttpConfig;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that errors name the key, the value and the valid values. */
class ConfigBoundsTest {

  @ParameterizedTest
  @CsvSource({
    "cleanup-interval, 100ms, 99ms, 100ms or more, 99ms",
    "cleanup-interval, 1d, 25h, 1d or less, 90000s",
    "memory.max-bytes, 1K, 1023, a size of 1K to 1T, 1023 bytes",
    "memory.max-bytes, 1T, 2T, a size of 1K to 1T, 2199023255552 bytes",
    "log.stream-bytes, 1K, 1023, a size of 1K to 1T, 1023 bytes",
    "log.session-bytes, 1T, 2T, a size of 1K to 1T, 2199023255552 bytes",
    "log.client-bytes, 1K, 1023, a size of 1K to 1T, 1023 bytes",
    "redis.max-bytes, 1K, 1023, a size of 1K to 1T, 1023 bytes",
    "redis.timeout, 10ms, 9ms, 10ms or more, 9ms",
    "redis.timeout, 1m, 61s, 1m or less, 61s",
    "upstream.connect-timeout, 10ms, 9ms, 10ms or more, 9ms",
    "upstream.connect-timeout, 5m, 301s, 5m or less, 301s",
    "upstream.first-byte-timeout, 10ms, 9ms, 10ms or more, 9ms",
    "upstream.first-byte-timeout, 1d, 25h, 1d or less, 90000s",
    "upstream.idle-timeout, 0s, -1s, 0s or more, -1s",
    "upstream.idle-timeout, 1d, 25h, 1d or less, 90000s",
    "upstream.max-sessions, 1, 0, 1 or more, 0",
    "upstream.max-sessions, 10000000, 10000001, 10000000 or less, 10000001",
    "upstream.max-requests, 1, 0, 1 or more, 0",
    "upstream.max-requests, 1000000, 1000001, 1000000 or less, 1000001",
    "upstream.max-connections, 1, 0, 1 or more, 0",
    "upstream.max-connections, 65536, 65537, 65536 or less, 65537",
    "upstream.max-processes, 1, 0, 1 or more, 0",
    "upstream.process-share, 100, 101, 100 or less, 101",
    "upstream.max-processes, 10000, 10001, 10000 or less, 10001",
    "upstream.stop-grace, 10ms, 9ms, 10ms or more, 9ms",
    "upstream.stop-grace, 1m, 61s, 1m or less, 61s",
    "upstreams.x.connect-timeout, 10ms, 9ms, 10ms or more, 9ms",
    "stream.event-ttl, 1s, 999ms, 1s or more, 999ms",
    "stream.event-ttl, 30d, 31d, 30d or less, 2678400s",
    "stream.completed-ttl, 1s, 999ms, 1s or more, 999ms",
    "stream.completed-ttl, 30d, 31d, 30d or less, 2678400s",
    "stream.max-events, 100, 99, 100 or more, 99",
    "stream.max-events, 10000000, 10000001, 10000000 or less, 10000001",
    "stream.retry, 10ms, 9ms, 10ms or more, 9ms",
    "stream.retry, 10m, 601s, 10m or less, 601s",
    "stream.drain-retry, 10ms, 9ms, 10ms or more, 9ms",
    "stream.drain-retry, 10m, 601s, 10m or less, 601s",
    "stream.drain-timeout, 0s, -1s, 0s or more, -1s",
    "stream.drain-timeout, 1d, 25h, 1d or less, 90000s",
    "stream.keep-alive, 100ms, 99ms, 100ms or more, 99ms",
    "stream.keep-alive, 10m, 601s, 10m or less, 601s",
    "clients.x.resumes, 0, -1, 0 or more, -1",
    "clients.x.resumes, 1000, 1001, 1000 or less, 1001",
    "clients.x.time-limit, 1d, 25h, 1d or less, 90000s",
    "stream.idle-timeout, 0s, -1s, 0s or more, -1s",
    "stream.idle-timeout, 1d, 25h, 1d or less, 90000s",
    "stream.max-lifetime, 100ms, 99ms, 100ms or more, 99ms",
    "stream.max-lifetime, 1d, 25h, 1d or less, 90000s",
    "stream.write-timeout, 100ms, 99ms, 100ms or more, 99ms",
    "stream.write-timeout, 1h, 61m, 1h or less, 3660s",
    "replay.window, 1s, 999ms, 1s or more, 999ms",
    "replay.window, 30d, 31d, 30d or less, 2678400s",
    "store-failure.hold, 100ms, 99ms, 100ms or more, 99ms",
    "store-failure.hold, 10m, 601s, 10m or less, 601s",
    "session.abandoned-timeout, 30s, 29s, 30s or more, 29s",
    "session.idle-timeout, 1s, 999ms, 1s or more, 999ms",
    "session.idle-timeout, 30d, 31d, 30d or less, 2678400s",
    "cluster.heartbeat, 50ms, 49ms, 50ms or more, 49ms",
    "cluster.heartbeat, 1m, 61s, 1m or less, 61s",
    "cluster.dead-after, 100ms, 99ms, 100ms or more, 99ms",
    "cluster.dead-after, 10m, 601s, 10m or less, 601s",
    "http.body-timeout, 100ms, 99ms, 100ms or more, 99ms",
    "http.body-timeout, 1h, 61m, 1h or less, 3660s",
    "limits.connections, 1, 0, 1 or more, 0",
    "limits.connections, 1000000, 1000001, 1000000 or less, 1000001",
    "limits.connections-per-address, 1, 0, 1 or more, 0",
    "limits.connections-per-address, 1000000, 1000001, 1000000 or less, 1000001",
    "limits.requests, 1, 0, 1 or more, 0",
    "limits.requests, 1000000, 1000001, 1000000 or less, 1000001",
    "limits.sessions, 1, 0, 1 or more, 0",
    "limits.sessions, 10000000, 10000001, 10000000 or less, 10000001",
    "limits.requests-per-second, 1, 0, 1 or more, 0",
    "limits.requests-per-second, 1000000, 1000001, 1000000 or less, 1000001",
    "limits.sessions-per-address, 1, 0, 1 or more, 0",
    "limits.sessions-per-address, 10000000, 10000001, 10000000 or less, 10000001",
    "limits.streams-per-session, 2, 1, 2 or more, 1",
    "limits.streams-per-session, 10000, 10001, 10000 or less, 10001",
    "limits.message-bytes, 1K, 1023, a size of 1K to 256M, 1023 bytes",
    "limits.message-bytes, 256M, 257M, a size of 1K to 256M, 269484032 bytes",
    "limits.server-message-bytes, 1K, 1023, a size of 1K to 256M, 1023 bytes",
    "limits.server-message-bytes, 256M, 257M, a size of 1K to 256M, 269484032 bytes",
  })
  void shouldRefuseValuesOutOfBounds(
      String name, String atBound, String outside, String bound, String value) {
    String key = "holdfast." + name;

    assertThatCode(() -> ConfigFixture.by(Map.of(key, atBound))).doesNotThrowAnyException();
    assertRefused(key, outside, key + " ", "must be " + bound + ", not " + value);
  }

  @ParameterizedTest
  @CsvSource({
    "store, mongo, 'allowed values: memory,redis'",
    "stream.durable, none, 'allowed values: all,calls'",
    "replay.on-gap, skip, 'allowed values: continue,error'",
    "stream.retry, soon, 'Invalid duration: soon'",
    "limits.sessions, many, 'Expected an integer value, got \"many\"'",
    "limits.message-bytes, big, big",
    "memory.max-bytes, big, big",
    "upstream.url, http://a b, Illegal character",
    "upstream.transport, carrier-pigeon, streamable-http",
  })
  void shouldRefuseInvalidValues(String name, String value, String why) {
    String key = "holdfast." + name;

    assertRefused(key, value, key + " with the config value \"" + value + "\"", why);
  }

  /** These values were once accepted although no header can match them, so requests got 403. */
  @ParameterizedTest
  @CsvSource({
    "allowed-origins, https://a.example/, 'must be a host, an origin such as'",
    "allowed-origins, https://a.example/mcp, not https://a.example/mcp",
    "allowed-origins, https://a.example:443, not https://a.example:443",
    "allowed-origins, https://me@a.example, not https://me@a.example",
    "allowed-origins, a.example:8443, not a.example:8443",
    "allowed-origins, *.example.com, not *.example.com",
    "allowed-origins, 'localhost,https://*', not https://*",
    "allowed-hosts, https://a.example, 'must be a host without port'",
    "allowed-hosts, a.example:8080, not a.example:8080",
    "allowed-hosts, ::1, not ::1",
    "allowed-hosts, *.example.com, not *.example.com",
  })
  void shouldRefuseNamesThatCannotMatch(String name, String value, String why) {
    String key = "holdfast.http." + name;

    assertRefused(key, value, key, why);
  }

  private static void assertRefused(String key, String value, String... messages) {
    assertThatThrownBy(() -> ConfigFixture.by(Map.of(key, value)))
        .isInstanceOf(ConfigValidationException.class)
        .message()
        .contains(messages);
  }

  @Test
  void shouldAcceptNamesThatCanMatch() {
    HttpConfig config =
        ConfigFixture.by(
                Map.of(
                    "holdfast.http.allowed-origins",
                    "localhost, A.example,https://b.example:8443,http://[::1]:3000,app://x,null,*",
                    "holdfast.http.allowed-hosts",
                    "a_b,10.0.0.1,[::1],*"))
            .getConfigMapping(HttpConfig.class);

    assertThat(config.allowedOrigins())
        .containsExactly(
            "localhost",
            "a.example",
            "https://b.example:8443",
            "http://[::1]:3000",
            "app://x",
            "null",
            "*");
    assertThat(config.allowedHosts()).containsExactly("a_b", "10.0.0.1", "[::1]", "*");
  }

  @Test
  void shouldRefuseUnknownKeys() {
    assertThatThrownBy(() -> ConfigFixture.by(Map.of("holdfast.strem.retry", "1s")))
        .isInstanceOf(ConfigValidationException.class)
        .hasMessageContaining("holdfast.strem.retry in ")
        .hasMessageContaining("does not map to any root");
  }

  @Test
  void shouldFindUnknownVariables() {
    Map<String, String> variables =
        Map.of(
            "HOLDFAST_STREM_RETRY", "1s",
            "HOLDFAST_UPSTREAMS_MY_SERVER_URL", "http://a/mcp",
            "HOLDFAST_STREAM_EVENT_TTL", "2h",
            "HOLDFAST_UPSTREAMS_WEATHER_URL", "http://b/mcp",
            "HOLDFAST_UPSTREAM_HEADERS_X_API_KEY", "secret",
            "HOLDFAST_HTTP_ALLOWED_HOSTS", "a,b",
            "HOLDFAST_SERVICE_HOST", "10.0.0.1",
            "HOLDFAST_PORT_8080_TCP_ADDR", "10.0.0.1",
            "PATH", "/bin");

    SmallRyeConfig config = ConfigFixture.byEnvironment(variables);

    assertThat(UnknownVariables.in(config))
        .containsExactly("holdfast.strem.retry", "holdfast.upstreams.my.server.url");
  }

  @ParameterizedTest
  @CsvSource({
    "holdfast.strem.retry, 'HOLDFAST_STREM_RETRY is ignored, there is no such key: is it"
        + " HOLDFAST_STREAM_RETRY?'",
    "holdfast.upstream.urll, 'HOLDFAST_UPSTREAM_URLL is ignored, there is no such key: is it"
        + " HOLDFAST_UPSTREAM_URL?'",
    "holdfast.upstreams.my.server.url, 'HOLDFAST_UPSTREAMS_MY_SERVER_URL is ignored: the name of an"
        + " upstream is one word in a variable, as in HOLDFAST_UPSTREAMS_MYSERVER_URL."
        + " holdfast.yaml allows other names'",
    "holdfast.upstreams.a.b.idle.timeout, 'HOLDFAST_UPSTREAMS_A_B_IDLE_TIMEOUT is ignored: the name"
        + " of an upstream is one word in a variable, as in HOLDFAST_UPSTREAMS_AB_IDLE_TIMEOUT."
        + " holdfast.yaml allows other names'",
    "holdfast.colour, 'HOLDFAST_COLOUR is ignored: there is no such key'",
  })
  void shouldSayWhichVariableMayBeMeant(String key, String advice) {
    assertThat(UnknownVariables.advice(key)).isEqualTo(advice);
  }

  @Test
  void shouldReadUpstreamsAndHeadersFromTheEnvironment() {
    SmallRyeConfig config =
        ConfigFixture.byEnvironment(
            Map.of(
                "HOLDFAST_UPSTREAMS_WEATHER_URL", "http://b/mcp",
                "HOLDFAST_UPSTREAMS_WEATHER_HEADERS_X_API_KEY", "secret",
                "HOLDFAST_UPSTREAMS_TIME_COMMAND", "npx -y 'the server', \"x\"",
                "HOLDFAST_UPSTREAMS_TIME_ENVIRONMENT_API_KEY", "secret"));

    GatewayConfig gateway = config.getConfigMapping(GatewayConfig.class);
    assertThat(gateway.upstreams())
        .containsOnlyKeys("weather", "time")
        .hasEntrySatisfying(
            "time",
            time -> {
              assertThat(time.command()).hasValue("npx -y 'the server', \"x\"");
              assertThat(time.environment()).containsOnlyKeys("api.key");
            })
        .hasEntrySatisfying(
            "weather", weather -> assertThat(weather.headers()).containsOnlyKeys("x.api.key"));
  }
}

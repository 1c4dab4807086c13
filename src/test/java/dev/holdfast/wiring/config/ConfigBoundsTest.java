package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.config.ConfigErrors;
import dev.holdfast.http.origin.HttpConfig;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that errors name the key, the value and the valid values. */
class ConfigBoundsTest {

  @ParameterizedTest
  @CsvSource({
    "cleanup-interval, 100ms, 99ms, 100ms to 1d",
    "cleanup-interval, 1d, 25h, 100ms to 1d",
    "redis.timeout, 10ms, 9ms, 10ms to 1m",
    "redis.timeout, 1m, 61s, 10ms to 1m",
    "upstream.connect-timeout, 10ms, 9ms, 10ms to 5m",
    "upstream.connect-timeout, 5m, 301s, 10ms to 5m",
    "upstream.first-byte-timeout, 10ms, 9ms, 10ms to 1d",
    "upstream.first-byte-timeout, 1d, 25h, 10ms to 1d",
    "upstream.idle-timeout, 0s, -1s, 0s to 1d",
    "upstream.idle-timeout, 1d, 25h, 0s to 1d",
    "merge.max-sessions, 1, 0, 1 to 10000000",
    "merge.max-requests, 1000000, 1000001, 1 to 1000000",
    "upstream.max-sessions, 1, 0, 1 to 10000000",
    "upstream.max-sessions, 10000000, 10000001, 1 to 10000000",
    "upstream.max-requests, 1, 0, 1 to 1000000",
    "upstream.max-requests, 1000000, 1000001, 1 to 1000000",
    "upstream.max-connections, 1, 0, 1 to 65536",
    "upstream.max-connections, 65536, 65537, 1 to 65536",
    "upstream.max-processes, 1, 0, 1 to 10000",
    "upstream.process-share, 100, 101, 1 to 100",
    "upstream.max-processes, 10000, 10001, 1 to 10000",
    "upstream.stop-grace, 10ms, 9ms, 10ms to 1m",
    "upstream.stop-grace, 1m, 61s, 10ms to 1m",
    "upstreams.x.connect-timeout, 10ms, 9ms, 10ms to 5m",
    "stream.event-ttl, 1s, 999ms, 1s to 30d",
    "stream.event-ttl, 30d, 31d, 1s to 30d",
    "stream.completed-ttl, 1s, 999ms, 1s to 30d",
    "stream.completed-ttl, 30d, 31d, 1s to 30d",
    "stream.max-events, 100, 99, 100 to 10000000",
    "stream.max-events, 10000000, 10000001, 100 to 10000000",
    "stream.retry, 10ms, 9ms, 10ms to 10m",
    "stream.retry, 10m, 601s, 10ms to 10m",
    "stream.drain-retry, 10ms, 9ms, 10ms to 10m",
    "stream.drain-retry, 10m, 601s, 10ms to 10m",
    "stream.drain-timeout, 0s, -1s, 0s to 1d",
    "stream.drain-timeout, 1d, 25h, 0s to 1d",
    "stream.keep-alive, 100ms, 99ms, 100ms to 10m",
    "stream.keep-alive, 10m, 601s, 100ms to 10m",
    "clients.x.resumes, 0, -1, 0 to 1000",
    "clients.x.resumes, 1000, 1001, 0 to 1000",
    "clients.x.time-limit, 1d, 25h, 0s to 1d",
    "operators.sign-in-life, 1m, 59s, 1m to 1d",
    "operators.sign-in-life, 1d, 25h, 1m to 1d",
    "auth.recheck-interval, 0s, -1s, 0s to 1d",
    "auth.recheck-interval, 1d, 25h, 0s to 1d",
    "stream.idle-timeout, 0s, -1s, 0s to 1d",
    "stream.idle-timeout, 1d, 25h, 0s to 1d",
    "stream.max-lifetime, 100ms, 99ms, 100ms to 1d",
    "stream.max-lifetime, 1d, 25h, 100ms to 1d",
    "stream.write-timeout, 100ms, 99ms, 100ms to 1h",
    "stream.write-timeout, 1h, 61m, 100ms to 1h",
    "replay.window, 1s, 999ms, 1s to 30d",
    "eras.cancel-grace, 1h, 61m, 0s to 1h",
    "calls.attach-window, 0s, -1s, 0s to 1h",
    "calls.attach-window, 1h, 61m, 0s to 1h",
    "eras.answer-timeout, 1s, 999ms, 1s to 1d",
    "eras.answer-timeout, 1d, 25h, 1s to 1d",
    "replay.window, 30d, 31d, 1s to 30d",
    "store-failure.hold, 100ms, 99ms, 100ms to 10m",
    "store-failure.hold, 10m, 601s, 100ms to 10m",
    "session.abandoned-timeout, 30s, 29s, 30s to 30d",
    "session.idle-timeout, 1s, 999ms, 1s to 30d",
    "session.idle-timeout, 30d, 31d, 1s to 30d",
    "cluster.heartbeat, 50ms, 49ms, 50ms to 1m",
    "cluster.heartbeat, 1m, 61s, 50ms to 1m",
    "cluster.dead-after, 100ms, 99ms, 100ms to 10m",
    "cluster.dead-after, 10m, 601s, 100ms to 10m",
    "http.body-timeout, 100ms, 99ms, 100ms to 1h",
    "http.body-timeout, 1h, 61m, 100ms to 1h",
    "limits.connections, 1, 0, 1 to 1000000",
    "limits.connections, 1000000, 1000001, 1 to 1000000",
    "limits.connections-per-address, 1, 0, 1 to 1000000",
    "limits.connections-per-address, 1000000, 1000001, 1 to 1000000",
    "limits.requests, 1, 0, 1 to 1000000",
    "limits.requests, 1000000, 1000001, 1 to 1000000",
    "limits.sessions, 1, 0, 1 to 10000000",
    "limits.sessions, 10000000, 10000001, 1 to 10000000",
    "limits.requests-per-second, 1, 0, 1 to 1000000",
    "tools.compute-threads, 2, 1, 2 to 256",
    "tools.compute-threads, 256, 257, 2 to 256",
    "limits.requests-per-second, 1000000, 1000001, 1 to 1000000",
    "limits.sessions-per-address, 1, 0, 1 to 10000000",
    "limits.sessions-per-address, 10000000, 10000001, 1 to 10000000",
    "limits.streams-per-session, 2, 1, 2 to 10000",
    "limits.streams-per-session, 10000, 10001, 2 to 10000",
  })
  void shouldRefuseValuesOutOfRange(String name, String atBound, String outside, String range) {
    String key = "holdfast." + name;

    assertThat(outOfRange(key, atBound)).isEmpty();
    assertThat(outOfRange(key, outside))
        .singleElement()
        .asString()
        .startsWith(key + " ")
        .contains(" of " + range + ", such as ")
        .endsWith(", not " + outside);
  }

  private static List<String> outOfRange(String key, String value) {
    return new ConfigErrors(UnknownVariables.KEYS, ConfigFixture.by(Map.of(key, value)))
        .outOfRange();
  }

  @ParameterizedTest
  @CsvSource({
    "memory.max-bytes, 1K, 1023, 1K to 1T, 1023 bytes",
    "memory.max-bytes, 1T, 2T, 1K to 1T, 2199023255552 bytes",
    "log.stream-bytes, 1K, 1023, 1K to 1T, 1023 bytes",
    "log.session-bytes, 1T, 2T, 1K to 1T, 2199023255552 bytes",
    "log.client-bytes, 1K, 1023, 1K to 1T, 1023 bytes",
    "redis.max-bytes, 1K, 1023, 1K to 1T, 1023 bytes",
    "eras.cache-bytes, 1K, 1023, 1K to 1T, 1023 bytes",
    "limits.message-bytes, 1K, 1023, 1K to 256M, 1023 bytes",
    "limits.message-bytes, 256M, 257M, 1K to 256M, 269484032 bytes",
    "limits.server-message-bytes, 1K, 1023, 1K to 256M, 1023 bytes",
    "limits.server-message-bytes, 256M, 257M, 1K to 256M, 269484032 bytes",
  })
  void shouldRefuseSizesOutOfBounds(
      String name, String atBound, String outside, String bounds, String value) {
    String key = "holdfast." + name;

    assertThatCode(() -> ConfigFixture.by(Map.of(key, atBound))).doesNotThrowAnyException();
    assertRefused(key, outside, key + " ", "must be a size of " + bounds + ", not " + value);
  }

  @ParameterizedTest
  @CsvSource({
    "store, mongo, 'allowed values: memory,redis'",
    "stream.durable, none, 'allowed values: all,calls'",
    "eras.new-clients, ignore, 'allowed values: refuse,serve'",
    "replay.on-gap, skip, 'allowed values: continue,error'",
    "stream.retry, soon, 'Invalid duration: soon'",
    "limits.sessions, many, 'Expected an integer value, got \"many\"'",
    "limits.message-bytes, big, big",
    "memory.max-bytes, big, big",
    "upstream.url, http://a b, Illegal character",
    "upstream.transport, carrier-pigeon, streamable-http",
    "upstream.era, ice, new",
    "upstream.new-clients, ignore, 'allowed values: refuse,serve'",
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

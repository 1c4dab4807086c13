package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.http.HttpUpstreamSettings.Reconnection;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpUpstreamSettingsTest {

  private static final URI URL = URI.create("http://localhost:8080/mcp");

  private static HttpUpstreamSettings withHeaders(Map<String, String> headers) {
    return UpstreamFixture.headers(headers).apply(UpstreamFixture.defaults(URL));
  }

  private static HttpUpstreamSettings with(
      int connect, int firstByte, int idle, int bytes, int retry, int attempts) {
    return UpstreamFixture.settings(
        URL,
        Map.of(),
        Duration.ofMillis(connect),
        Duration.ofMillis(firstByte),
        Duration.ofMillis(idle),
        bytes,
        new Reconnection(Duration.ofMillis(retry), attempts, Duration.ZERO),
        HttpUpstreamSettings.MOST_CONNECTIONS);
  }

  @Test
  void shouldHaveDefaults() {
    // when
    HttpUpstreamSettings settings = UpstreamFixture.defaults(URL);

    // then
    assertThat(settings.headers().fixed()).isEmpty();
    assertThat(settings.connectTimeout()).hasSeconds(5);
    assertThat(settings.channel().firstByteTimeout()).hasMinutes(5);
    assertThat(settings.channel().idleTimeout()).hasMinutes(5);
    assertThat(settings.channel().maxMessageBytes()).isEqualTo(4 * 1024 * 1024);
    assertThat(settings.reconnection().maxDelay()).hasSeconds(30);
    assertThat(settings.reconnection().attempts()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/mcp",
        "ftp://host/",
        "mailto:a@b",
        "http:///mcp",
        "http://user:secret@host/mcp",
        "http://host/mcp#part"
      })
  void shouldRefuseInvalidUrl(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpstreamFixture.defaults(URI.create(url)))
        .withMessageNotContaining("secret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:", "Mcp-Session-Id", "content-length", "Last-Event-ID"})
  void shouldRefuseReservedHeaders(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> withHeaders(Map.of(name, "v")));
  }

  private static HttpUpstreamSettings forwarding(boolean traces, String... names) {
    HttpUpstreamSettings defaults = withHeaders(Map.of("X-Api-Key", "v"));
    return new HttpUpstreamSettings(
        URL,
        new RequestHeaders(defaults.headers().fixed(), Set.of(names), traces ? Map::of : null),
        defaults.connectTimeout(),
        defaults.reconnection(),
        defaults.maxConnections(),
        null,
        Credentials.NONE,
        new Channel.Settings(
            "test",
            2,
            2,
            defaults.channel().firstByteTimeout(),
            defaults.channel().idleTimeout(),
            defaults.channel().maxMessageBytes(),
            false));
  }

  @ParameterizedTest
  @CsvSource({
    "a b, not a b",
    "Authorization, Authorization is never forwarded",
    "Proxy-Authorization, never forwarded",
    "cookie, never forwarded",
    "Mcp-Session-Id, never forwarded",
    "mcp-name, never forwarded",
    "Last-Event-ID, never forwarded",
    "Host, never forwarded",
    "Content-Type, never forwarded",
    "accept, never forwarded",
    "TE, never forwarded",
    "Keep-Alive, never forwarded",
    "Upgrade, never forwarded",
    "x-api-key, x-api-key has a value in headers.x-api-key"
  })
  void shouldRefuseToForward(String name, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> forwarding(false, name))
        .withMessageContaining(message);
  }

  @Test
  void shouldForwardTraceContextOnlyWhileTracesAreOff() {
    String[] names = {"X-Tenant", "Traceparent", "tracestate"};

    assertThat(forwarding(false, names).headers().forwarded())
        .containsExactlyInAnyOrder("x-tenant", "traceparent", "tracestate");
    assertThat(forwarding(true, names).headers().forwarded()).containsExactly("x-tenant");
  }

  @Test
  void shouldRefuseHeaderWithLineEndWithoutQuotingIt() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> withHeaders(Map.of("Authorization", "secret\r\nX: y")))
        .withMessageNotContaining("secret");
  }

  @Test
  void shouldKeepSecretsOutOfItsText() {
    // given
    URI url = URI.create("http://host/mcp?key=secret1");

    // when
    String text =
        UpstreamFixture.headers(Map.of("Authorization", "secret2"))
            .apply(UpstreamFixture.defaults(url))
            .toString();

    // then
    assertThat(text).contains("http://host/mcp", "Authorization").doesNotContain("secret");
  }

  @Test
  void shouldWaitLongForCallsOnly() {
    HttpUpstreamSettings settings =
        UpstreamFixture.timeouts(Duration.ofHours(1), Duration.ZERO)
            .apply(UpstreamFixture.defaults(URL));

    assertThat(settings.channel().startTimeout()).hasMinutes(5);
    assertThat(with(1, 20, 0, 1, 1, 0).channel().startTimeout()).hasMillis(20);
  }

  @Test
  void shouldAcceptSmallestValues() {
    assertThat(with(1, 1, 0, 1, 1, 0).channel().idleTimeout()).isZero();
  }
}

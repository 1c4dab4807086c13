package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.upstream.UpstreamException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageEndpointTest {

  @ParameterizedTest
  @CsvSource({
    "http://a/x/sse, /messages?s=1, http://a/messages?s=1",
    "http://a/x/sse, messages, http://a/x/messages",
    "http://a/x/sse?k=v, ?s=1, http://a/x/sse?s=1",
    "http://a/x/sse, http://a/m, http://a/m",
    "http://a/x/sse, http://A:80/m, http://A:80/m",
    "https://a/x/sse, //a:443/m, https://a:443/m",
  })
  void shouldResolveAgainstStreamUrl(URI base, String text, URI expected) {
    assertThat(LegacyChannel.MessageEndpoint.resolve(base, text)).isEqualTo(expected);
  }

  @Test
  void shouldRefuseLongText() {
    String text = "/m?" + "x".repeat(8192);

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> LegacyChannel.MessageEndpoint.resolve(URI.create("http://a/sse"), text))
        .withMessageContaining("too long");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://b/m",
        "https://a/m",
        "http://a:81/m",
        "//b/m",
        "http://a@b/m",
        "http://u:p@a/m",
        "mailto:a",
        "file:///etc"
      })
  void shouldRefuseOtherOrigin(String text) {
    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> LegacyChannel.MessageEndpoint.resolve(URI.create("http://a/sse"), text))
        .withMessageContaining("origin");
  }
}

package dev.holdfast.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UrlsTest {

  @ParameterizedTest
  @CsvSource({
    "http://localhost, /",
    "http://localhost?team=a, /?team=a",
    "https://localhost:8443/a%20b/mcp, /a%20b/mcp",
    "https://[::1]:8443/mcp?team=a%2Fb&all#part, /mcp?team=a%2Fb&all",
  })
  void shouldTellWhatARequestNames(URI url, String target) {
    assertThat(Urls.target(url)).isEqualTo(target);
  }
}

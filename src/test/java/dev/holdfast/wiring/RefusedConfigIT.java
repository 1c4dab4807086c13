package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.Gateway;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program itself says why it does not start, in a line and without a stack trace. */
class RefusedConfigIT {

  @ParameterizedTest
  @CsvSource({
    "stream.retry, 1ms, 'holdfast.stream.retry must be 10ms or more, not PT0.001S'",
    "upstream.url, ftp://a/b, 'holdfast.upstream cannot be used with the url ftp://a/b: url must'",
    "upstreams.x.idle-timeout, 2s, 'holdfast.upstreams.x.url is missing, or holdfast.upstreams.x.c'",
    "upstreams.default.url, http://localhost:1/mcp, 'holdfast.upstreams.default is no name'",
    "upstream.command, npx \"x, 'holdfast.upstream cannot be used: command has a quote that is"
        + " not'",
  })
  void shouldSayWhyItDoesNotStart(String name, String value, String why) {
    assertThatThrownBy(() -> Gateway.start(Map.of("holdfast." + name, value)).close())
        .hasMessageContaining(why)
        .message()
        .doesNotContain("\tat ");
  }

  @Test
  void shouldTakeAServerForOneThingOnly() {
    Map<String, String> both =
        Map.of(
            "holdfast.upstreams.x.url", "http://localhost:1/mcp",
            "holdfast.upstreams.x.command", "npx x");

    assertThatThrownBy(() -> Gateway.start(both).close())
        .hasMessageContaining("holdfast.upstreams.x.url and holdfast.upstreams.x.command exclude");
  }
}

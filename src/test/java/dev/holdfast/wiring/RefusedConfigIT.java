package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.Gateway;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that one line, without a stack trace, explains why the program does not start. */
class RefusedConfigIT {

  @ParameterizedTest
  @CsvSource({
    "store, reddis, 'holdfast.store must be one of memory, redis, not reddis'",
    "stream.retry, 1ms, 'holdfast.stream.retry must be 10ms or more, not 1ms'",
    "upstream.url, ftp://a/b, 'holdfast.upstream cannot be used with the url ftp://a/b: url must'",
    "upstreams.x.idle-timeout, 2s, holdfast.upstreams.x needs a url or a command",
    "upstreams.default.url, http://localhost:1/mcp, holdfast.upstreams.default is reserved",
    "upstream.command, npx \"x, 'holdfast.upstream cannot be used: command has a quote that is"
        + " not'",
  })
  void shouldExplainWhyItDoesNotStart(String name, String value, String why) {
    assertThatThrownBy(() -> Gateway.start(Map.of("holdfast." + name, value)).close())
        .hasMessageContaining(why)
        .message()
        .doesNotContain("\tat ");
  }

  @Test
  void shouldRefuseAUrlTogetherWithACommand() {
    Map<String, String> both =
        Map.of(
            "holdfast.upstreams.x.url", "http://localhost:1/mcp",
            "holdfast.upstreams.x.command", "npx x");

    assertThatThrownBy(() -> Gateway.start(both).close())
        .hasMessageContaining("holdfast.upstreams.x.url and holdfast.upstreams.x.command exclude");
  }
}

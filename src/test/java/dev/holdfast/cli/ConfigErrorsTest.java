package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.wiring.ConfigFixture;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user reads about a configuration that the framework refuses. */
class ConfigErrorsTest {

  private static final ConfigErrors ERRORS = new ConfigErrors(Map.<String, String>of()::get);

  private static String refusal(Map<String, String> properties) {
    Throwable refused = catchThrowable(() -> ConfigFixture.by(properties));
    return ERRORS.explain(String.valueOf(refused.getMessage()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "store | reddis | must be one of memory, redis, not reddis",
        "replay.on-gap | x | must be one of continue, error, not x",
        "upstream.transport | grpc | must be one of auto, stdio, sse, streamable-http, not grpc",
        "stream.retry | 5parsecs | must be a duration such as 500ms, 30s or 5m, not 5parsecs",
        "stream.retry | 1ms | must be 10ms or more, not 1ms",
        "limits.sessions | abc | must be a whole number, not abc",
        "limits.sessions | 0 | must be 1 or more, not 0",
        "limits.sessions | '' | has no value",
        "limits.message-bytes | 5Q | must be a size such as 512K, 10M or 2G, not 5Q",
        "log.stream-bytes | -1 | must be a size such as 512K, 10M or 2G, not -1",
        "log.stream-bytes | 12 | must be 1K to 1T, not 12",
        "http.allowed-hosts | 'a/b secret' | has an invalid value",
        "upstream.url | http://a b | is not a valid URL: Illegal character in authority at index 8",
      })
  void shouldSayWhatIsAllowed(String key, String value, String fault) {
    assertThat(refusal(Map.of("holdfast." + key, value)))
        .isEqualTo("Configuration validation failed:\n\tholdfast." + key + " " + fault);
  }

  @Test
  void shouldReportAllProblems() {
    Map<String, String> wrong = new LinkedHashMap<>();
    wrong.put("holdfast.store", "reddis");
    wrong.put("holdfast.stream.retry", "soon");
    wrong.put("holdfast.strem.retry", "1s");

    assertThat(refusal(wrong))
        .contains(
            "\n\tholdfast.store must be one of memory, redis, not reddis",
            "\n\tholdfast.stream.retry must be a duration such as 500ms, 30s or 5m, not soon",
            "\n\tholdfast.strem.retry is not a configuration key. It is in test")
        .doesNotContain("Exception", "SRCFG");
  }

  @Test
  void shouldNameTheVariable() {
    ConfigErrors errors = new ConfigErrors(Map.of("HOLDFAST_STREAM_KEEP_ALIVE", "x")::get);
    String error =
        "The config property holdfast.stream.keep-alive with the config value \"x\" threw an"
            + " Exception whilst being converted Invalid duration: x";

    assertThat(errors.explain(error))
        .isEqualTo(
            "holdfast.stream.keep-alive (HOLDFAST_STREAM_KEEP_ALIVE) must be a duration such as"
                + " 500ms, 30s or 5m, not x");
  }

  /** The framework quotes what it cannot read, and the reason quotes it again. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://me:secret word@host/mcp | Illegal character in authority at index 16",
        "http://me:secret%zz@host/mcp | Malformed escape pair at index 16",
        "http://host/mcp?key=secret^ | Illegal character in query at index 20",
        ":secret@127.0.0.1:1 | Expected scheme name at index 0",
        "http://a, http://\"b\" threw:secret\" threw x@host | Illegal character in path at index 5",
      })
  void shouldNotPrintInvalidUrls(String url, String reason) {
    String error =
        "failed:\n\tException: The property a.url with the config value \"%s\" threw an Exception"
                .formatted(url)
            + " whilst being converted %s: %s".formatted(reason, url);

    assertThat(ERRORS.explain(error + "\n\tException: another"))
        .isEqualTo("failed:\n\ta.url is not a valid URL: " + reason + "\n\tException: another");
  }

  @ParameterizedTest
  @ValueSource(strings = {"5 parsecs", "http://me:secret@host", "12\n34"})
  void shouldNotPrintInvalidValuesWithoutAReason(String value) {
    String error = "The property x with the config value \"%s\" threw %s".formatted(value, value);

    assertThat(ERRORS.explain(error)).isEqualTo("x has an invalid value");
  }
}

package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CanonicalJsonTest {

  private static byte[] digest(String json) {
    return CanonicalJson.digest(json.getBytes(UTF_8), "_meta");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"a\":1,\"b\":[2,{\"c\":3,\"d\":null}]} | {\"b\": [2, {\"d\":null, \"c\":3}], \"a\":1 }",
        "{\"a\":\"\\u00e4\\/\"} | {\"a\":\"ä/\"}",
        "{\"a\":1,\"_meta\":{\"b\":2}} | {\"_meta\":3,\"a\":1}",
        "{\"a\":1,\"_meta\":{}} | {\"a\":1}",
      })
  void shouldBeEqual(String one, String other) {
    assertThat(digest(one)).isEqualTo(digest(other)).hasSize(32);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"a\":1} | {\"a\":2}",
        "{\"a\":1} | {\"a\":\"1\"}",
        "{\"a\":1} | {\"a\":1.0}",
        "{\"a\":[1,2]} | {\"a\":[2,1]}",
        "{\"a\":[12]} | {\"a\":[1,2]}",
        "{\"a\":[[1],2]} | {\"a\":[[1,2]]}",
        "{\"a\":{}} | {\"a\":[]}",
        "{\"a\":{\"_meta\":1}} | {\"a\":{}}",
        "{\"a\":\"b\",\"c\":\"d\"} | {\"a\":\"d\",\"c\":\"b\"}",
        "{\"a\":\"bc\"} | {\"ab\":\"c\"}",
        "{\"a\":\"\\ud800\"} | {\"a\":\"\\ud801\"}",
        "{\"a\":true} | {\"a\":\"true\"}",
        "{\"a\":null} | {}",
      })
  void shouldDiffer(String one, String other) {
    assertThat(digest(one)).isNotEqualTo(digest(other));
  }
}

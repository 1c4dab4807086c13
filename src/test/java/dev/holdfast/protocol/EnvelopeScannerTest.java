package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeScannerTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {"jsonrpc":"2.0","id":7,"result":{"id":8}}                         | 7
          {"result":{"id":8,"a":[{"id":9}]},"jsonrpc":"2.0","id":7}          | 7
          {"result":"\\"id\\":8,","id" : "a, \\"b\\" }" ,"jsonrpc":"2.0"}    | "a, \\"b\\" }"
            { "id" :\t-1.5e3 , "error":{"code":1,"message":"}"}, "x":[1,2] } | -1.5e3
          {"id":7,"result":"\\\\","method2":1}                               | 7
          """)
  void shouldFindTheIdOfTheTopLevelAlone(String json, String id) {
    for (int chunk : new int[] {1, 3, 1000}) {
      EnvelopeScanner scanner = scan(json, chunk);

      assertThat(scanner.id()).isEqualTo(new RequestId(id));
      assertThat(scanner.hasMethod()).isFalse();
      assertThat(scanner.mayBeMessage()).isTrue();
      assertThat(scanner.bytes()).isEqualTo(json.getBytes(UTF_8).length);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"result\":{\"id\":7}}",
        "{\"id\":7,\"id\":8,\"result\":1}",
        "{\"id\":7,\"result\":1,\"id\":7}",
        "{\"id\":null,\"error\":{}}",
        "{\"id\":{\"id\":7},\"result\":1}",
        "{\"id\":[7],\"result\":1}",
        "{\"id\":7,\"result\":{\"a\":1}",
        "{\"id\":7} {\"id\":7}",
        "[{\"id\":7,\"result\":1}]",
        "\"id\":7",
        "{\"\\u0069d\":7,\"result\":1}"
      })
  void shouldNotGuessAnId(String json) {
    assertThat(scan(json, 1000).id()).isNull();
  }

  @Test
  void shouldKnowAnIdUpToTheLimitOfFields() {
    String longest = "\"" + "i".repeat(Envelopes.MAX_FIELD_BYTES - 2) + "\"";

    assertThat(scan("{\"id\":" + longest + ",\"result\":1}", 100).id())
        .isEqualTo(new RequestId(longest));
    assertThat(scan("{\"id\":\"" + "i".repeat(5000) + "\",\"result\":1}", 100).id()).isNull();
  }

  @Test
  void shouldTellRequestsAndNotificationsFromResponses() {
    assertThat(scan("{\"params\":{\"method\":1},\"method\":\"x\"}", 9).hasMethod()).isTrue();
    assertThat(scan("{\"result\":{\"method\":\"x\"},\"id\":1}", 9).hasMethod()).isFalse();
    assertThat(scan(" not JSON", 9).mayBeMessage()).isFalse();
    assertThat(scan(" ", 9).mayBeMessage()).isTrue();
  }

  private static EnvelopeScanner scan(String json, int chunk) {
    EnvelopeScanner scanner = new EnvelopeScanner();
    byte[] bytes = json.getBytes(UTF_8);
    for (int i = 0; i < bytes.length; i += chunk) {
      scanner.write(bytes, i, Math.min(chunk, bytes.length - i));
    }
    return scanner;
  }
}

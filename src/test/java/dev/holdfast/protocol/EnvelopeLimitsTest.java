package dev.holdfast.protocol;

import static dev.holdfast.protocol.JsonRpcErrorCode.INVALID_REQUEST;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the limits on what the gateway keeps of a message. */
class EnvelopeLimitsTest {

  private static final String NOTIFICATION = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";

  @Test
  void shouldAcceptABatchAtTheLimit() {
    Body body = Envelopes.read(bytes(batchOf(3)), 3);

    assertThat(body.messages()).hasSize(3);
  }

  /** The text that follows is not JSON. So the error shows that reading ended at the limit. */
  @Test
  void shouldEndReadingABatchAtTheLimit() {
    String body = batchOf(4).replace("]", ", no JSON");

    EnvelopeException refusal = refusal(body, 3);

    assertThat(refusal.code()).isEqualTo(INVALID_REQUEST);
    assertThat(refusal.clientMessage())
        .isEqualTo("Invalid Request: a batch has at most 3 messages");
    assertThat(refusal.id()).isEmpty();
  }

  @Test
  void shouldLimitBatchesFromServers() {
    assertThat(Envelopes.read(bytes(batchOf(1000))).messages()).hasSize(1000);
    assertThat(refusal(batchOf(1001), 1000).code()).isEqualTo(INVALID_REQUEST);
  }

  /** {@code %s} stands for the text of 255 to 257 bytes. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "id | 254 | `\"id\":\"%s\",\"method\":\"ping\"`",
        "id | 256 | `\"id\":%s,\"method\":\"ping\"`",
        "id | 254 | `\"id\":\"%s\",\"result\":{}`",
        "id | 254 | `\"id\":\"%s\",\"error\":{}`",
        "method | 256 | `\"id\":1,\"method\":\"%s\"`",
        "method | 256 | `\"method\":\"%s\"`",
        "the name of the tool | 256 | `\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}`",
        "progressToken | 254 |"
            + " `\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{\"progressToken\":\"%s\"}}`",
        "progressToken | 254 |"
            + " `\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"%s\"}`",
        "requestId | 254 |"
            + " `\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"%s\"}`"
      })
  void shouldRefuseALongField(String field, int longest, String members) {
    String message = "{\"jsonrpc\":\"2.0\"," + members + "}";

    assertThat(Envelopes.read(bytes(message.formatted("1".repeat(longest)))).messages()).hasSize(1);
    EnvelopeException refusal = refusal(message.formatted("1".repeat(longest + 1)), 1);

    assertThat(refusal).isInstanceOf(EnvelopeException.FieldTooLong.class);
    assertThat(refusal.code()).isEqualTo(INVALID_REQUEST);
    assertThat(refusal.clientMessage())
        .isEqualTo("Invalid Request: " + field + " is longer than 256 bytes");
    assertThat(refusal.id().isPresent()).isEqualTo(message.contains("\"id\":1,"));
  }

  @Test
  void shouldCountBytesAndNotCharacters() {
    assertThat(Envelopes.read(bytes(method("é".repeat(128)))).messages()).hasSize(1);
    assertThat(refusal(method("é".repeat(129)), 1))
        .isInstanceOf(EnvelopeException.FieldTooLong.class);
  }

  /** The gateway does not keep these: other methods may use the members for long texts. */
  @ParameterizedTest
  @ValueSource(strings = {"name", "requestId", "progressToken", "uri"})
  void shouldPassLongParametersOfOtherMethods(String member) {
    String params = "{\"%s\":\"%s\"}".formatted(member, "x".repeat(5000));
    String message = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":%s}".formatted(params);

    assertThat(Envelopes.read(bytes(message)).messages()).hasSize(1);
  }

  private static String method(String name) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}".formatted(name);
  }

  private static String batchOf(int messages) {
    return Collections.nCopies(messages, NOTIFICATION).toString();
  }

  private static EnvelopeException refusal(String body, int maxMessages) {
    return catchThrowableOfType(
        EnvelopeException.class, () -> Envelopes.read(bytes(body), maxMessages));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}

package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InitializeTest {

  @Test
  void shouldReadRequest() {
    InitializeRequest read =
        InitializeRequest.read(
            request(
                """
                {"protocolVersion":"2025-11-25","capabilities":{"protocolVersion":"no","name":"no"},
                 "clientInfo":{"title":"t","name":"née","version":"1.2","icons":[{"name":"no"}]}}\
                """));

    assertThat(read).isEqualTo(new InitializeRequest("2025-11-25", "née", "1.2"));
  }

  /** A session keeps both texts in the heap and in Redis, so their length needs a bound. */
  @Test
  void shouldTruncateTheClientNameAndVersion() {
    String longest = "\uD83D\uDE80".repeat(200);

    InitializeRequest read =
        InitializeRequest.read(
            request(
                """
                {"protocolVersion":"x","clientInfo":{"name":"%s","version":"%s"}}\
                """
                    .formatted(longest + "\uD83D\uDE80", "1".repeat(1000))));

    assertThat(read).isEqualTo(new InitializeRequest("x", longest, "1".repeat(200)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"protocolVersion\":\"x\"}",
        "{\"protocolVersion\":\"x\",\"clientInfo\":null}",
        "{\"protocolVersion\":\"x\",\"clientInfo\":[{\"name\":\"n\"}]}",
        "{\"protocolVersion\":\"x\",\"clientInfo\":{\"name\":1,\"version\":null}}",
        "{\"protocolVersion\":\"x\",\"clientInfo.name\":\"n\"}",
        "{\"protocolVersion\":\"x\",\"name\":\"n\",\"version\":\"v\"}"
      })
  void shouldReadRequestWithoutClientInfo(String params) {
    assertThat(InitializeRequest.read(request(params)))
        .isEqualTo(new InitializeRequest("x", null, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "[\"2025-11-25\"]",
        "{\"protocolVersion\":null}",
        "{\"protocolVersion\":20251125}",
        "{\"x\":{\"protocolVersion\":\"x\"}}",
        "{\"protocolVersion\":{\"protocolVersion\":\"x\"}}"
      })
  void shouldRefuseRequestWithoutVersion(String params) {
    assertThatExceptionOfType(EnvelopeException.class)
        .isThrownBy(() -> InitializeRequest.read(request(params)))
        .satisfies(refusal -> {
          assertThat(refusal.code()).isEqualTo(JsonRpcErrorCode.INVALID_PARAMS);
          assertThat(refusal.id()).contains(RequestId.of(1));
        });
  }

  @Test
  void shouldReadResult() {
    assertThat(
            response("\"result\":{\"x\":{},\"protocolVersion\":\"2025-06-18\"}").protocolVersion())
        .contains("2025-06-18");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"result\":{}",
        "\"result\":null",
        "\"result\":{\"protocolVersion\":1}",
        "\"result\":{},\"protocolVersion\":\"x\"",
        "\"result\":{},\"result.protocolVersion\":\"x\"",
        "\"error\":{\"protocolVersion\":\"x\"}"
      })
  void shouldReadNoResultFromOtherResponses(String member) {
    assertThat(response(member).protocolVersion()).isEmpty();
  }

  private static Message.Request request(String params) {
    return (Message.Request) message("\"id\":1,\"method\":\"initialize\",\"params\":" + params);
  }

  private static Message.Response response(String member) {
    return (Message.Response) message("\"id\":1," + member);
  }

  private static Message message(String members) {
    byte[] body = ("{\"jsonrpc\":\"2.0\"," + members + "}").getBytes(UTF_8);
    return ((Body.Single) Envelopes.read(body)).message();
  }
}

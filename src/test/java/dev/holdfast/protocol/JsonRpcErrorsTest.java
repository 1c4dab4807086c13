package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonRpcErrorsTest {

  @Test
  void shouldEchoIdAsWritten() {
    assertThat(
            text(JsonRpcErrors.error(new RequestId("\"\\u0061\""), -32000, "no \"way\"", Map.of())))
        .isEqualTo(
            "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"error\":{\"code\":-32000,\"message\":\"no"
                + " \\\"way\\\"\"}}");
  }

  @Test
  void shouldOmitAnUnreadableId() {
    assertThat(text(JsonRpcErrors.error(null, -32700, "Parse error", Map.of())))
        .isEqualTo("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}");
  }

  @Test
  void shouldWriteData() {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("purged", true);
    data.put("firstAvailable", "g_5-\n1");
    data.put("int", 1);
    data.put("long", 1L << 60);
    data.put("double", 0.5);
    data.put("big", new BigInteger("123456789012345678901234567890"));
    data.put("decimal", new BigDecimal("1.10"));
    data.put("none", null);

    byte[] error = JsonRpcErrors.error(RequestId.of(1), -32001, "gone", data);

    assertThat(text(error))
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone","data":{"purged":true,\
            "firstAvailable":"g_5-\\n1","int":1,"long":1152921504606846976,"double":0.5,\
            "big":123456789012345678901234567890,"decimal":1.10,"none":null}}}\
            """);
    assertThat(((Body.Single) Envelopes.read(error)).message())
        .isInstanceOfSatisfying(
            Message.Response.class, response -> assertThat(response.error()).isTrue());
  }

  @Test
  void shouldRefuseDataOfOtherTypes() {
    for (Object value : List.of(new Object(), Map.of(), List.of("a"), 'c')) {
      assertThatIllegalStateException()
          .isThrownBy(() -> JsonRpcErrors.error(null, 1, "m", Map.of("x", value)));
    }
  }

  /** The name of a tool may contain half a surrogate pair, and the error message quotes it. */
  @Test
  void shouldReplaceUnpairedSurrogates() {
    assertThat(text(JsonRpcErrors.error(null, 1, "no \uD800 tool", Map.of("t", "é\uDC00"))))
        .contains("\"no ? tool\"", "\"é?\"");
  }

  @Test
  void shouldUseTheCodesOfTheSpecification() {
    assertThat(JsonRpcErrorCode.values())
        .extracting(JsonRpcErrorCode::code)
        .containsExactly(
            -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, -32800, -32000, -32001);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }
}

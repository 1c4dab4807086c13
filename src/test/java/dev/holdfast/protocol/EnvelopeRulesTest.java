package dev.holdfast.protocol;

import static dev.holdfast.protocol.JsonRpcErrorCode.INVALID_REQUEST;
import static dev.holdfast.protocol.JsonRpcErrorCode.PARSE_ERROR;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which messages are refused, with which error code and id. */
class EnvelopeRulesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "\n",
        "x",
        "{",
        "[",
        "nul",
        "{]",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",}",
        "{\"jsonrpc\":\"2.0\" \"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}{}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"} 1",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"},",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\u0000",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[1,]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[01]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[+1]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[1.]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[.5]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[-]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[1e]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[1a]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[NaN]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[truex]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":['a']}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"\n\"]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"\u0001\"]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"\\x\"]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"\\u12g4\"]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",/* c */\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",params:[]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[}}",
        "\uFEFF{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"},]",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
        "[1,{\"jsonrpc\":\"2.0\",\"method\":\"m\"",
        "[] []"
      })
  void shouldRefuseABodyThatIsNotOneJsonValue(String body) {
    EnvelopeException refusal = refusal(body.getBytes(UTF_8));

    assertThat(refusal.code()).isEqualTo(PARSE_ERROR);
    assertThat(refusal.clientMessage()).isEqualTo("Parse error");
    assertThat(refusal.id()).isEmpty();
    assertThat(refusal.getStackTrace()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"80", "c3", "c328", "c080", "eda080", "f4908080", "ff", "fe", "e282", "f09f98"})
  void shouldRefuseInvalidUtf8(String hex) {
    byte[] bad = HexFormat.of().parseHex(hex);
    for (int ascii = 0; ascii < 9; ascii++) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      body.writeBytes("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"x\":\"".getBytes(UTF_8));
      body.writeBytes("a".repeat(ascii).getBytes(UTF_8));
      body.writeBytes(bad);
      body.writeBytes("\"}".getBytes(UTF_8));

      assertThat(refusal(body.toByteArray()).code()).isEqualTo(PARSE_ERROR);
    }
  }

  @Test
  void shouldRefuseInvalidUtf8AfterLongValidText() {
    byte[] body =
        ("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"x\":\"" + "é".repeat(5000) + "\"}")
            .getBytes(UTF_8);
    assertThat(Envelopes.read(body)).isInstanceOf(Body.Single.class);

    body[body.length - 4] = 'x';

    assertThat(refusal(body).code()).isEqualTo(PARSE_ERROR);
  }

  @Test
  void shouldRefuseOtherCharsets() {
    for (Charset charset : List.of(UTF_16BE, UTF_16LE, Charset.forName("UTF-32BE"))) {
      byte[] body = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}".getBytes(charset);

      assertThat(refusal(body).code()).isEqualTo(PARSE_ERROR);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1",
        "null",
        "true",
        "\"x\"",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"params\":{}}",
        "{\"method\":\"m\"}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"m\"}",
        "{\"jsonrpc\":2.0,\"method\":\"m\"}",
        "{\"jsonrpc\":null,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":1}",
        "{\"jsonrpc\":\"2.0\",\"method\":null}",
        "{\"jsonrpc\":\"2.0\",\"method\":null,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":[\"m\"]}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{\"id\":1},\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":null}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"p\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":null}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":false,\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"\\u0069d\":2,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"id\":2,\"method\":\"m\"}",
        "[]",
        " [ ] ",
        "[1]",
        "[null]",
        "[[]]",
        "[[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"},{\"jsonrpc\":\"2.0\",\"id\":2}]"
      })
  void shouldRefuseAnInvalidMessageWithoutAnId(String body) {
    EnvelopeException refusal = refusal(body.getBytes(UTF_8));

    assertThat(refusal.code()).isEqualTo(INVALID_REQUEST);
    assertThat(refusal.clientMessage()).startsWith("Invalid Request");
    assertThat(refusal.id()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"id\":\"é\"}",
        "{\"method\":\"m\",\"id\":\"é\"}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"m\",\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":1,\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u0000\"},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\\n\"},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"p\",\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"method\":\"m\",\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{},\"params\":{},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"name\":1,\"name\":\"a\"},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":1,\"_meta\":{}},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"requestId\":1,\"requestId\":2},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"progressToken\":1,\"progressToken\":2},\"id\":\"é\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":{\"progressToken\":1,\"progressToken\":1}},\"id\":\"é\"}"
      })
  void shouldReportTheIdOfARefusedRequest(String body) {
    EnvelopeException refusal = refusal(body.getBytes(UTF_8));

    assertThat(refusal.code()).isEqualTo(INVALID_REQUEST);
    assertThat(refusal.id()).contains(RequestId.of("é"));
  }

  @Test
  void shouldAllowDuplicatesOfUnreadMembers() {
    String body = "{\"jsonrpc\":\"2.0\",\"x\":1,\"x\":2,\"id\":1,\"result\":{\"a\":1,\"a\":2}}";

    assertThat(Envelopes.read(body.getBytes(UTF_8))).isInstanceOf(Body.Single.class);
  }

  @Test
  void shouldLimitDepth() {
    byte[] deepest = nested(Utf8JsonFactory.MAX_DEPTH - 1);
    byte[] tooDeep = nested(Utf8JsonFactory.MAX_DEPTH);

    assertThat(Envelopes.read(deepest)).isInstanceOf(Body.Single.class);
    assertThat(refusal(tooDeep).code()).isEqualTo(INVALID_REQUEST);
  }

  @Test
  void shouldRefuseMillionsOfOpenBrackets() {
    byte[] body = new byte[4 << 20];
    Arrays.fill(body, (byte) '[');

    assertThat(refusal(body).code()).isEqualTo(INVALID_REQUEST);
  }

  @Test
  void shouldLimitTheLengthOfMemberNames() {
    String allowed = "n".repeat(Utf8JsonFactory.MAX_NAME_LENGTH - 8);
    String tooLong = "n".repeat(Utf8JsonFactory.MAX_NAME_LENGTH + 8);

    assertThat(Envelopes.read(withMember(allowed))).isInstanceOf(Body.Single.class);
    assertThat(refusal(withMember(tooLong)).code()).isEqualTo(INVALID_REQUEST);
  }

  @Test
  void shouldRefuseEveryTruncation() {
    String request =
        """
        {"jsonrpc":"2.0","id":"é\\u0061\\n","method":"tools/call","params":{"name":"x","_meta":\
        {"progressToken":-1.5e10},"a":[true,false,null,{"€":"😀\\ud83d\\ude00"}]}}\
        """;
    for (String body : List.of(request, "[" + request + ", " + request + "]")) {
      byte[] whole = body.getBytes(UTF_8);
      for (int length = 0; length < whole.length; length++) {
        EnvelopeException refusal = refusal(Arrays.copyOf(whole, length));

        assertThat(refusal.code()).as("cut at %s", length).isEqualTo(PARSE_ERROR);
      }
    }
  }

  private static byte[] nested(int levels) {
    return ("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":"
            + "[".repeat(levels)
            + "]".repeat(levels)
            + "}")
        .getBytes(UTF_8);
  }

  private static byte[] withMember(String name) {
    return ("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"" + name + "\":1}").getBytes(UTF_8);
  }

  private static EnvelopeException refusal(byte[] body) {
    EnvelopeException refusal =
        catchThrowableOfType(EnvelopeException.class, () -> Envelopes.read(body));
    assertThat(refusal).isNotNull();
    return refusal;
  }
}

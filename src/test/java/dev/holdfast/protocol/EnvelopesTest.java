package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks what the reader extracts from valid messages, in any JSON formatting. */
class EnvelopesTest {

  @Test
  void shouldReadRequest() {
    Message.Request request =
        request("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}");

    assertThat(request.id()).isEqualTo(RequestId.of(1));
    assertThat(request.method()).isEqualTo("tools/list");
    assertThat(request.toolName()).isNull();
    assertThat(request.progressToken()).isNull();
  }

  @Test
  void shouldReadToolNameAndProgressToken() {
    Message.Request request =
        request(
            """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":
             {"_meta":{"x":{"progressToken":1},"progressToken":"a\\u0062"},"name":"s\\u0065arch"}}\
            """);

    assertThat(request.toolName()).isEqualTo("search");
    assertThat(request.progressToken()).isEqualTo("\"a\\u0062\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "9007199254740993", "1.0", "\"t\"", "\"\""})
  void shouldKeepProgressTokenRaw(String token) {
    assertThat(
            request(
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{\"progressToken\":"
                        + token
                        + "}}}")
                .progressToken())
        .isEqualTo(token);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "true", "[1]", "{\"a\":1}"})
  void shouldIgnoreProgressTokenToolNameAndRequestIdOfAnotherType(String value) {
    Message.Request request =
        request(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":%1$s,\"_meta\":{\"progressToken\":%1$s}}}"
                .formatted(value));
    Message.Notification cancelled =
        notification(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}}"
                .formatted(value));

    assertThat(request.toolName()).isNull();
    assertThat(request.progressToken()).isNull();
    assertThat(cancelled.cancelledRequestId()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "[1,{\"progressToken\":1}]", "\"x\"", "5"})
  void shouldIgnoreMetaThatIsNotAnObject(String meta) {
    assertThat(
            request(
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":"
                        + meta
                        + "}}")
                .progressToken())
        .isNull();
  }

  @Test
  void shouldReadToolNameOnlyOfToolCalls() {
    assertThat(
            request(
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\"}}")
                .toolName())
        .isNull();
  }

  @Test
  void shouldReadNotification() {
    Message.Notification notification =
        notification("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");

    assertThat(notification.method()).isEqualTo(Methods.NOTIFICATIONS_INITIALIZED);
    assertThat(notification.cancelledRequestId()).isNull();
  }

  @Test
  void shouldReadTheIdOfTheCancelledRequest() {
    Message.Notification number =
        notification(
            "{\"jsonrpc\":\"2.0\",\"params\":{\"requestId\":12},\"method\":\"notifications/cancelled\"}");
    Message.Notification string =
        notification(
            "{\"jsonrpc\":\"2.0\",\"params\":{\"requestId\":\"12\"},\"method\":\"notifications/cancelled\"}");
    Message.Notification other =
        notification("{\"jsonrpc\":\"2.0\",\"params\":{\"requestId\":12},\"method\":\"other\"}");

    assertThat(number.cancelledRequestId()).isEqualTo(RequestId.of(12));
    assertThat(string.cancelledRequestId()).isEqualTo(RequestId.of("12"));
    assertThat(other.cancelledRequestId()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "9007199254740993", "1.0", "\"t\"", "\"a\\u0062\""})
  void shouldReadTheProgressTokenOfAProgressNotification(String token) {
    String params = "\"params\":{\"progress\":1,\"progressToken\":" + token + "}}";

    assertThat(
            notification("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"," + params)
                .progressToken())
        .isEqualTo(token);
    assertThat(notification("{\"jsonrpc\":\"2.0\",\"method\":\"other\"," + params).progressToken())
        .isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{}", "{\"id\":2,\"method\":\"x\",\"error\":1}", "[]", "null", "1", "\"\""})
  void shouldReadResult(String result) {
    Message.Response response =
        response("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":" + result + "}");

    assertThat(response.id()).isEqualTo(RequestId.of("a"));
    assertThat(response.error()).isFalse();
  }

  @Test
  void shouldReadError() {
    Message.Response response =
        response("{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32000,\"message\":\"no\"}}");

    assertThat(response.id()).isEqualTo(RequestId.of(3));
    assertThat(response.error()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"id\":null,", ""})
  void shouldReadErrorAboutUnreadableMessage(String id) {
    Message.Response response = response("{\"jsonrpc\":\"2.0\"," + id + "\"error\":{}}");

    assertThat(response.id()).isNull();
    assertThat(response.error()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "-0",
        "1.0",
        "1e3",
        "1E+3",
        "9007199254740993",
        "123456789012345678901234567890",
        "\"\"",
        "\"1\"",
        "\"a\\\"b\\\\c\\n\"",
        "\"\\u00e9\"",
        "\"é€😀\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\""
      })
  void shouldKeepIdAsWritten(String id) {
    String params = "\"params\":{\"p\":[1,2,{\"q\":\"é\"}]}";

    RequestId first =
        request("{\"id\":" + id + ",\"jsonrpc\":\"2.0\",\"method\":\"m\"," + params + "}").id();
    RequestId last =
        request("{\"jsonrpc\":\"2.0\",\"method\":\"m\"," + params + ", \"id\" :\t" + id + " }")
            .id();
    RequestId answered = response("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}").id();

    assertThat(first.json()).isEqualTo(id);
    assertThat(last.json()).isEqualTo(id);
    assertThat(answered).isEqualTo(first);
  }

  @Test
  void shouldIgnoreNestedMembers() {
    Message.Request request =
        request(
            """
            {"params":{"id":9,"method":"no","jsonrpc":"1.0","result":1,"error":{},"requestId":4,
              "arguments":{"name":"no","id":[{"method":"no","_meta":{"progressToken":8}}]},
              "name":"yes"},
             "id":1,"method":"tools/call","jsonrpc":"2.0","extra":{"id":7,"method":"no"}}\
            """);

    assertThat(request.id()).isEqualTo(RequestId.of(1));
    assertThat(request.method()).isEqualTo("tools/call");
    assertThat(request.toolName()).isEqualTo("yes");
    assertThat(request.progressToken()).isNull();
  }

  @Test
  void shouldReadEscapedMemberNames() {
    assertThat(
            request("{\"jsonrp\\u0063\":\"2.\\u0030\",\"i\\u0064\":1,\"m\\u0065thod\":\"m\"}").id())
        .isEqualTo(RequestId.of(1));
  }

  @Test
  void shouldNotChangeTheBytes() {
    byte[] body =
        " \r\n\t{ \"jsonrpc\" : \"2.0\" ,\n\"id\" : 1.0 , \"method\":\"m\",\"params\":[1.10,\"\\/é\"] }\n "
            .getBytes(UTF_8);
    byte[] before = body.clone();

    Body read = Envelopes.read(body);

    assertThat(read.bytes()).isSameAs(body).isEqualTo(before);
    assertThat(((Body.Single) read).message().bytes()).isSameAs(body);
  }

  @Test
  void shouldReadTheIdAfterFourMebibytesOfParams() {
    String text = "x".repeat(4 << 20);

    assertThat(
            request(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"t\":\""
                        + text
                        + "\"},\"id\":5}")
                .id())
        .isEqualTo(RequestId.of(5));
  }

  @Test
  void shouldSkipNumbersOfAnyLength() {
    String digits = "1".repeat(1 << 20);

    assertThat(
            request(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[%1$s,-%1$s.%1$s,1e%1$s],\"id\":5}"
                        .formatted(digits))
                .id())
        .isEqualTo(RequestId.of(5));
  }

  /** All messages share the parser's table of names, so names that clients invent must not stay. */
  @ParameterizedTest
  @ValueSource(ints = {500, 100_000})
  void shouldNotCacheMemberNamesOfClients(int count) {
    StringBuilder keys = new StringBuilder("\"k\":0");
    for (int i = 0; i < count; i++) {
      keys.append(",\"key-").append(i).append("\":1");
    }
    request("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{" + keys + "}}");

    request("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}");

    assertThat(Utf8JsonFactory.INSTANCE.cachedNames()).isLessThan(100);
  }

  private static Message.Request request(String body) {
    return (Message.Request) message(body);
  }

  private static Message.Notification notification(String body) {
    return (Message.Notification) message(body);
  }

  private static Message.Response response(String body) {
    return (Message.Response) message(body);
  }

  private static Message message(String body) {
    return ((Body.Single) Envelopes.read(body.getBytes(UTF_8))).message();
  }
}

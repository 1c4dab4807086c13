package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemberIdsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "5 | \"a/5\"",
        "\"x/y\" | \"a/\\\"x/y\\\"\"",
        "1.50 | \"a/1.50\"",
        "\"\\\"\" | \"a/\\\"\\\\\\\"\\\"\""
      })
  void shouldTranslateIdsAndBack(String atServer, String atClient) {
    assertThat(MemberIds.toClient("a", atServer)).isEqualTo(atClient);
    assertThat(MemberIds.read(atClient)).isEqualTo(new MemberIds.Id("a", atServer));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"5", "\"a\"", "\"a/\"", "\"a/x\"", "\"a/{}\""})
  void shouldNotTakeOtherIds(String json) {
    assertThat(MemberIds.read(json)).isNull();
  }

  @Test
  void shouldTranslateQuestionsOfServers() {
    String question =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\","
            + "\"params\":{\"_meta\":{\"progressToken\":3},\"x\":1.0}}";

    UpstreamMessage translated = MemberIds.toClient("git", message(question), "git e1");

    assertThat(new String(translated.payload(), UTF_8))
        .isEqualTo(question.replace("\"id\":7", "\"id\":\"git/7\"").replace(":3", ":\"git/3\""));
    assertThat(translated.eventId()).isEqualTo("git e1");
  }

  @Test
  void shouldTranslateCancellationsOfServers() {
    UpstreamMessage translated =
        MemberIds.toClient(
            "git",
            message(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    + "\"params\":{\"requestId\":7}}"),
            null);

    assertThat(new String(translated.payload(), UTF_8)).contains("\"requestId\":\"git/7\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}}"
      })
  void shouldPassOtherMessagesUntouched(String json) {
    UpstreamMessage message = message(json);

    assertThat(MemberIds.toClient("git", message, null)).isSameAs(message);
    assertThat(MemberIds.toClient("git", message, "git 1").payload()).isSameAs(message.payload());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"jsonrpc\":\"2.0\",\"id\":\"git/7\",\"result\":{}} |"
            + " {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"git/\\\"t\\\"\"}} |"
            + " {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\"}}"
      })
  void shouldReturnAnswersToTheirServers(String sent, String received) {
    Message message = ((Body.Single) Envelopes.read(sent.getBytes(UTF_8))).message();
    MemberIds.Id id = Objects.requireNonNull(MemberIds.idIn(message));

    assertThat(id.member()).isEqualTo("git");
    assertThat(new String(MemberIds.toServer(message, id).bytes(), UTF_8)).isEqualTo(received);
  }

  private static UpstreamMessage message(String json) {
    return new UpstreamMessage(json.getBytes(UTF_8), null);
  }
}

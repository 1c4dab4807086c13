package dev.holdfast.intercept;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScopedToolsTest {

  private static final ToolRules RULES =
      new ToolRules(
          List.of(),
          List.of(),
          Map.of("write", List.of("write_*", "Delete"), "admin", List.of("delete", "drop_*")),
          (_, _) -> {});

  private static final String LIST =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"c\"}}";

  private static Message message(String json) {
    return ((Body.Single) Envelopes.read(json.getBytes(UTF_8))).message();
  }

  private static Verdict judge(ToolRules rules, String json, String scopes) {
    Set<String> held = scopes.isEmpty() ? Set.of() : Set.of(scopes.split(" "));
    return rules.judge(
        new InterceptedMessage(
            message(json), Direction.TO_SERVER, "u", "s", "key alice", held, null));
  }

  private static String call(String tool) {
    return """
    {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s"}}\
    """
        .formatted(tool);
  }

  private static String listed(String tools, String scopes, @Nullable String request) {
    String json = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + tools + "}";
    Verdict verdict =
        RULES.judge(
            new InterceptedMessage(
                message(json),
                Direction.TO_CLIENT,
                "u",
                "s",
                "key alice",
                scopes.isEmpty() ? Set.of() : Set.of(scopes.split(" ")),
                request == null ? null : (Message.Request) message(request)));
    return verdict instanceof Verdict.Replace(byte[] replaced)
        ? new String(replaced, UTF_8).replaceAll(".*\"result\":(.*)}", "$1")
        : tools;
  }

  @ParameterizedTest
  @CsvSource({
    "read_a, '', ''",
    "read_a, write, ''",
    "write_a, '', the scope write",
    "write_a, other, the scope write",
    "write_a, admin, the scope write",
    "write_a, write, ''",
    "write_a, WRITE, the scope write",
    "delete, '', 'one of the scopes admin, write'",
    "delete, admin, ''",
    "delete, write, ''",
    "delete, other write, ''",
    "\\u0064rop_a, '', the scope admin",
    // Servers that do not tell capital letters from small ones have the same tool for both.
    "DELETE, '', 'one of the scopes admin, write'",
    "Write_A, '', the scope write",
    "Write_A, write, ''",
    "\\u0057RITE_\\u00c4, '', the scope write",
    "undelete, '', ''",
    "'', '', ''",
  })
  void shouldAllowCallsByScope(String tool, String scopes, String needed) {
    Verdict verdict = judge(RULES, call(tool), scopes);

    if (needed.isEmpty()) {
      assertThat(verdict).isEqualTo(Verdict.PASS);
    } else {
      Verdict.Refuse refusal = (Verdict.Refuse) verdict;
      assertThat(refusal.code()).isEqualTo(-32000);
      assertThat(refusal.text()).startsWith("The tool ").endsWith(" needs " + needed);
      assertThat(refusal.data())
          .containsOnlyKeys("scope")
          .containsValue(needed.replaceAll("one of the scopes |the scope |,", ""));
    }
  }

  @Test
  void shouldRefuseEveryOtherToolWithAScopeForAll() {
    ToolRules rules =
        new ToolRules(
            List.of(),
            List.of(),
            Map.of("admin", List.of("*"), "r", List.of("read_*")),
            (_, _) -> {});

    assertThat(judge(rules, call("read_a"), "r")).isEqualTo(Verdict.PASS);
    assertThat(judge(rules, call(" Read_a "), "r")).isEqualTo(Verdict.PASS);
    assertThat(judge(rules, call("new"), "r")).isInstanceOf(Verdict.Refuse.class);
    assertThat(judge(rules, call("new"), "admin")).isEqualTo(Verdict.PASS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":[\"write_a\"]}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":1}}",
      })
  void shouldRefuseCallsThatItCannotJudge(String call) {
    assertThat(judge(RULES, call, "write admin")).isInstanceOf(Verdict.Refuse.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldListToolsByScope(boolean requestKnown) {
    String request = requestKnown ? LIST : null;
    String page =
        """
        {"tools":[{"name":"read_a"},{"name":"WRITE_a"},{"name":"delete"},{"name":"drop_a"},{}],\
        "nextCursor":"d"}\
        """;

    assertThat(listed(page, "admin write", request)).isEqualTo(page);
    assertThat(listed(page, "admin", request))
        .isEqualTo(
            """
            {"tools":[{"name":"read_a"},{"name":"delete"},{"name":"drop_a"},{}],"nextCursor":"d"}\
            """);
    assertThat(listed(page, "", request))
        .isEqualTo("{\"tools\":[{\"name\":\"read_a\"},{}],\"nextCursor\":\"d\"}");
    // The next page may have tools that the client may call.
    assertThat(listed("{\"tools\":[{\"name\":\"drop_a\"}],\"nextCursor\":\"e\"}", "", request))
        .isEqualTo("{\"tools\":[],\"nextCursor\":\"e\"}");
  }

  @Test
  void shouldNotTouchOtherMessages() {
    assertThat(judge(RULES, LIST, "")).isEqualTo(Verdict.PASS);
    assertThat(listed("{\"tools\":[{\"name\":\"drop_a\"}]}", "", call("read_a")))
        .isEqualTo("{\"tools\":[{\"name\":\"drop_a\"}]}");
    assertThat(RULES.namedScopes()).containsExactly("admin", "write");
  }
}

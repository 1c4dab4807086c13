package dev.holdfast.intercept;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.testing.LoggedLines;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The interceptors that the configuration offers. */
class RulesTest {

  private static final Verdict.Pass PASS = new Verdict.Pass();
  private static final String LIST =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/list"}\
      """;
  private static final String TOOLS =
      """
      {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_a"},{"name":"write_a"},\
      {"name":"read_b","max":1.50}],"nextCursor":"c"}}\
      """;

  private static Message message(String json) {
    return ((Body.Single) Envelopes.read(json.getBytes(UTF_8))).message();
  }

  private static InterceptedMessage toServer(String session, String json) {
    return new InterceptedMessage(
        message(json), Direction.TO_SERVER, "u", session, null, Set.of(), null);
  }

  private static InterceptedMessage toClient(String json, @Nullable String request) {
    Message.Request asked = request == null ? null : (Message.Request) message(request);
    return new InterceptedMessage(
        message(json), Direction.TO_CLIENT, "u", "s", null, Set.of(), asked);
  }

  private static String call(String tool) {
    return """
    {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s"}}\
    """
        .formatted(tool);
  }

  private static String result(String json) {
    return "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + json + "}";
  }

  private static String replaced(Verdict verdict) {
    return new String(((Verdict.Replace) verdict).json(), UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "read_*, '', read_a, true",
    "read_*, '', write_a, false",
    "'', write_*, read_a, true",
    "'', write_*, write_a, false",
    "read_*, *_b, read_a, true",
    "read_*, *_b, read_b, false",
    "a.c, '', abc, false",
    "a|b, '', a, false",
    "*, '', anything, true",
    "read_*, '', READ_A, true",
    "'', danger, DANGER, false",
    "'', danger, ' danger ', false",
    "'', kill, \u212aill, false",
    "'', 'a*b*c', a_b_c, false",
    "'', 'a*b*c', a_c_b_c, false",
    "'', 'a*b*c', a_c_b, true",
    "'', 'a*a', a, true",
    "'', 'ab*ba', aba, true",
    "'', '*ab*', xaab, false",
  })
  void shouldAllowToolsByName(String allow, String deny, String tool, boolean allowed) {
    ToolRules rules =
        new ToolRules(
            allow.isEmpty() ? List.of() : List.of(allow),
            deny.isEmpty() ? List.of() : List.of(deny),
            Map.of(),
            (_, _) -> {});

    Verdict verdict = rules.judge(toServer("s", call(tool)));

    assertThat(verdict)
        .isEqualTo(allowed ? PASS : new Verdict.Refuse(-32602, "Unknown tool: " + tool, Map.of()));
  }

  /** With regular expressions, this test does not end. */
  @Test
  @Timeout(20)
  void shouldLookOnceAtEachCharacterOfAName() {
    ToolRules rules =
        new ToolRules(List.of(), List.of("*a*a*a*a*a*a*a*a*b"), Map.of(), (_, _) -> {});

    assertThat(rules.judge(toServer("s", call("a".repeat(255))))).isEqualTo(PASS);
  }

  @Test
  void shouldRefuseCallsWithoutAReadableTool() {
    ToolRules rules = new ToolRules(List.of("*"), List.of(), Map.of(), (_, _) -> {});

    Verdict verdict =
        rules.judge(
            toServer(
                "s", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{}}"));

    assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
  }

  /** A server must not keep the rules busy. */
  @Test
  void shouldLeaveToolsWithLongNamesOutOfTheirList() {
    ToolRules rules = new ToolRules(List.of(), List.of("x"), Map.of(), (_, _) -> {});
    String longest = "a".repeat(ToolRules.LONGEST_NAME);
    String kept = "{\"name\":\"" + longest + "\"}";
    String left = "{\"name\":\"" + longest + "a\"}";

    try (LoggedLines log = new LoggedLines(ToolRules.class)) {
      Verdict verdict =
          rules.judge(toClient(result("{\"tools\":[" + kept + "," + left + "]}"), LIST));

      assertThat(replaced(verdict)).isEqualTo(result("{\"tools\":[" + kept + "]}"));
      assertThat(log.lines())
          .anyMatch(line ->
              line.contains("tool with a long name left out of a list upstream=u characters=257"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldHideToolsFromTheirList(boolean requestKnown) {
    ToolRules rules = new ToolRules(List.of("read_*"), List.of(), Map.of(), (_, _) -> {});

    Verdict verdict = rules.judge(toClient(TOOLS, requestKnown ? LIST : null));

    assertThat(replaced(verdict))
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_a"},\
            {"name":"read_b","max":1.50}],"nextCursor":"c"}}\
            """);
  }

  @Test
  void shouldNotTouchOtherResults() {
    ToolRules rules = new ToolRules(List.of(), List.of("write_*"), Map.of(), (_, _) -> {});

    assertThat(rules.judge(toClient(TOOLS, call("read_a")))).isEqualTo(PASS);
    assertThat(
            new ToolRules(List.of(), List.of("x"), Map.of(), (_, _) -> {})
                .judge(toClient(TOOLS, LIST)))
        .isEqualTo(PASS);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/secret | {\"secret\":1,\"b\":2} | {\"secret\":\"[redacted]\",\"b\":2}",
        "/content/*/text | {\"content\":[{\"text\":\"a\"},{\"text\":\"b\"},{\"x\":1}]}"
            + " | {\"content\":[{\"text\":\"[redacted]\"},{\"text\":\"[redacted]\"},{\"x\":1}]}",
        "/a/1 | {\"a\":[1,2,3]} | {\"a\":[1,\"[redacted]\",3]}",
        "/*/k | {\"x\":{\"k\":1},\"y\":{\"k\":{\"z\":1}}}"
            + " | {\"x\":{\"k\":\"[redacted]\"},\"y\":{\"k\":\"[redacted]\"}}",
        "/a~1b/m~0n | {\"a/b\":{\"m~n\":1}} | {\"a/b\":{\"m~n\":\"[redacted]\"}}",
        "/ | {\"\":1} | {\"\":\"[redacted]\"}",
      })
  void shouldRedactValuesOfResults(String pointer, String before, String after) {
    Verdict verdict = new Redaction(List.of(pointer)).judge(toClient(result(before), null));

    assertThat(replaced(verdict)).isEqualTo(result(after));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/missing", "/a/5", "/a/x", "/b/c", "/a/01"})
  void shouldPassResultsWithoutTheValue(String pointer) {
    Verdict verdict =
        new Redaction(List.of(pointer)).judge(toClient(result("{\"a\":[1,2],\"b\":\"c\"}"), null));

    assertThat(verdict).isEqualTo(PASS);
  }

  /** A reader could take the first one. */
  @Test
  void shouldRefuseResultsWithAMemberTwice() {
    InterceptorChain chain =
        new InterceptorChain("web", List.of(new Redaction(List.of("/a/b"))), new ByteBudget(0));

    InterceptorChain.Outcome outcome =
        chain.judge(toClient(result("{\"a\":{\"b\":1},\"a\":{}}"), null));

    assertThat(new String(outcome.error(), UTF_8)).contains("The gateway could not check");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "", "/a~2", "/a~"})
  void shouldRefuseInvalidPointers(String pointer) {
    assertThatThrownBy(() -> new Redaction(List.of(pointer)))
        .hasMessageContaining("JSON pointers, such as /content/*/text, not " + pointer);
  }

  @Test
  void shouldRefuseLargeResultsOnly() {
    ResultLimit limit = new ResultLimit(100);
    String text = "x".repeat(100);

    assertThat(limit.judge(toClient(result("\"" + text + "\""), null)))
        .isInstanceOf(Verdict.Refuse.class);
    assertThat(limit.judge(toClient(result("\"\""), null))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("s", call(text)))).isEqualTo(PASS);
    assertThat(
            limit.judge(
                toClient(
                    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\""
                        + text
                        + "\"}}",
                    null)))
        .isEqualTo(PASS);
  }

  @Test
  void shouldLimitCallsPerToolSessionAndMinute() {
    AtomicLong time = new AtomicLong();
    CallLimit limit = new CallLimit(2, time::get);

    assertThat(limit.judge(toServer("s", call("a")))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("s", call("a")))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("s", call("b")))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("t", call("a")))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("s", LIST))).isEqualTo(PASS);
    time.set(30_000_000_000L);
    assertThat(limit.judge(toServer("s", call("a"))))
        .isEqualTo(
            new Verdict.Refuse(
                -32000,
                "Too many calls of this tool",
                Map.of("limitPerMinute", 2, "retryAfterMillis", 30_000L)));
    time.set(60_000_000_000L);
    assertThat(limit.judge(toServer("s", call("a")))).isEqualTo(PASS);
  }

  /** A client chooses the names of tools, and could send ever new ones. */
  @Test
  void shouldCountToolsBeyondABoundTogether() {
    CallLimit limit = new CallLimit(1);
    for (int i = 0; i < CallLimit.MAX_TOOLS; i++) {
      assertThat(limit.judge(toServer("s", call("tool" + i)))).isEqualTo(PASS);
    }

    assertThat(limit.judge(toServer("s", call("more")))).isEqualTo(PASS);
    assertThat(limit.judge(toServer("s", call("even-more")))).isInstanceOf(Verdict.Refuse.class);
  }
}

package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.merge.Offer.Item;
import dev.holdfast.merge.Offer.Kind;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.text.NamePatterns;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchToolsTest {

  private static final String SCHEMA = "\"inputSchema\":{\"type\":\"object\",\"x\":1.0}";

  @Test
  void shouldListTheTwoToolsOnly() {
    String page = Objects.requireNonNull(names("one", "two").page(Kind.TOOL, null));

    assertThat(found(page)).containsExactly("find_tools", "call_tool");
    assertThat(page)
        .isEqualTo("{\"tools\":[" + SearchTools.FIND_JSON + "," + SearchTools.CALL_JSON + "]}");
  }

  @Test
  void shouldFindToolsAsListed() {
    String result = find(names("open_issue", "closeIssue"), "{\"query\":\"open\"}");

    String tools = "{\"tools\":[{\"name\":\"git__open_issue\"," + SCHEMA + "}]}";
    assertThat(JsonEdit.raw(result.getBytes(UTF_8), "structuredContent")).isEqualTo(tools);
    String content = JsonEdit.raw(result.getBytes(UTF_8), "content");
    assertThat(JsonEdit.elements(content))
        .containsExactly("{\"type\":\"text\",\"text\":" + JsonEdit.quote(tools) + "}");
  }

  @Test
  void shouldFindAtMostTheLimit() {
    Names names = names(IntStream.range(0, 30).mapToObj(i -> "issue_" + i).toArray(String[]::new));

    assertThat(found(find(names, "{\"query\":\"issue\"}"))).hasSize(5);
    assertThat(found(find(names, "{\"query\":\"issue\",\"limit\":20}"))).hasSize(20);
    assertThat(found(find(names, "{\"query\":\"issue\",\"limit\":1}")))
        .containsExactly("git__issue_0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"query\":5}",
        "{\"query\":\"issue\",\"limit\":0}",
        "{\"query\":\"issue\",\"limit\":21}",
        "{\"query\":\"issue\",\"limit\":\"5\"}"
      })
  void shouldRefuseOtherArguments(String arguments) {
    String result = find(names("issue"), arguments);

    assertThat(JsonEdit.raw(result.getBytes(UTF_8), "isError")).isEqualTo("true");
    assertThat(JsonEdit.raw(result.getBytes(UTF_8), "structuredContent")).isNull();
  }

  @Test
  void shouldRefuseLongQueries() {
    String words = "issue " + "x".repeat(994);

    assertThat(found(find(names("issue"), "{\"query\":\"" + words + "\"}"))).hasSize(1);
    assertThat(find(names("issue"), "{\"query\":\"" + words + "x\"}"))
        .contains("\"isError\":true", "at most 1,000 characters");
  }

  /** The names of the two tools mean nothing else, and hidden tools are found by no word. */
  @Test
  void shouldNotFindHiddenTools() {
    Names names = names(Map.of("git/log", "call_tool"), "log", "delete_all", "open");

    assertThat(found(find(names, "{\"query\":\"git log delete_all call_tool open\"}")))
        .containsExactly("git__open");
    assertThat(names.find(Kind.TOOL, "call_tool")).isEmpty();
    assertThat(names.dropped()).containsExactly("tool call_tool of git: the search has the name");
  }

  @Test
  void shouldCallToolsWithTheirArgumentsAndNothingElse() {
    Message.Request call =
        request(
            "{\"name\":\"call_tool\",\"arguments\":{\"name\":\"a\",\"arguments\":{\"x\":1.0}},"
                + "\"_meta\":{\"progressToken\":\"p\",\"y\":2}}");

    assertThat(new String(SearchTools.direct(call).bytes(), UTF_8))
        .isEqualTo(
            new String(
                request(
                        "{\"name\":\"a\",\"arguments\":{\"x\":1.0},"
                            + "\"_meta\":{\"progressToken\":\"p\",\"y\":2}}")
                    .bytes(),
                UTF_8));
    assertThat(SearchTools.direct(call))
        .extracting(Message.Request::toolName, Message.Request::progressToken)
        .containsExactly("a", "\"p\"");
    assertThat(SearchTools.nameIn(call)).isEqualTo("a");
  }

  @Test
  void shouldCallToolsWithoutArguments() {
    Message.Request call = request("{\"name\":\"call_tool\",\"arguments\":{\"name\":\"a\"}}");

    assertThat(SearchTools.direct(call).bytes()).isEqualTo(request("{\"name\":\"a\"}").bytes());
  }

  @Test
  void shouldLeaveOtherCallsAsTheyAre() {
    Message.Request call = request("{\"name\":\"a\",\"arguments\":{\"name\":\"b\"}}");

    assertThat(SearchTools.direct(call)).isSameAs(call);
    assertThat(SearchTools.nameIn(call)).isEqualTo("a");
  }

  private static Names names(String... tools) {
    return names(Map.of(), tools);
  }

  private static Names names(Map<String, String> renames, String... tools) {
    List<Item> items =
        List.of(tools).stream()
            .map(name -> new Item(name, "{\"name\":\"" + name + "\"," + SCHEMA + "}"))
            .toList();
    Offer offer = new Offer("{\"tools\":{}}", null, false, Map.of(Kind.TOOL, items));
    return new Names(
        List.of(new Names.Member("git", offer, null)),
        new MergeSettings(
            "default",
            List.of(),
            MergeSettings.Naming.PREFIX,
            renames,
            null,
            NamePatterns.of(List.of("*/delete*")),
            Duration.ofSeconds(1),
            true));
  }

  private static String find(Names names, String arguments) {
    return SearchTools.found(
            request("{\"name\":\"find_tools\",\"arguments\":" + arguments + "}"), names::search)
        .toJson();
  }

  private static List<String> found(String result) {
    byte[] json = result.getBytes(UTF_8);
    String inResult = JsonEdit.raw(json, "structuredContent", "tools");
    return JsonEdit.elements(inResult == null ? JsonEdit.raw(json, "tools") : inResult).stream()
        .map(tool -> String.valueOf(JsonEdit.text(JsonEdit.raw(tool.getBytes(UTF_8), "name"))))
        .toList();
  }

  private static Message.Request request(String params) {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"method\":\"tools/call\",\"params\":" + params + "}";
    Body.Single body = (Body.Single) Envelopes.read(json.getBytes(UTF_8));
    return (Message.Request) body.message();
  }
}

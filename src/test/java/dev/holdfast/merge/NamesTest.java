package dev.holdfast.merge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.merge.MergeSettings.Naming;
import dev.holdfast.merge.Names.Target;
import dev.holdfast.merge.Offer.Item;
import dev.holdfast.merge.Offer.Kind;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.text.NamePatterns;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamesTest {

  private static final String CAPABILITIES =
      "{\"tools\":{},\"resources\":{\"subscribe\":true},\"logging\":{}}";

  @Test
  void shouldPrefixEachName() {
    Names names = names(Naming.PREFIX, tools("git", "search", "log"), tools("jira", "search"));

    assertThat(listed(names)).containsExactly("git__search", "git__log", "jira__search");
    assertThat(names.find(Kind.TOOL, "jira__search").map(Target::member)).contains("jira");
    assertThat(names.find(Kind.TOOL, "jira__search").map(Target::original)).contains("search");
    assertThat(names.find(Kind.TOOL, "search")).isEmpty();
    assertThat(names.find(Kind.TOOL, null)).isEmpty();
  }

  @Test
  void shouldPrefixNamesInConflict() {
    Names names = names(Naming.CONFLICT, tools("git", "search", "log"), tools("jira", "search"));

    assertThat(listed(names)).containsExactly("git__search", "log", "jira__search");
    assertThat(names.dropped()).isEmpty();
  }

  @Test
  void shouldGiveNamesToTheMostImportantServer() {
    Names names = names(Naming.PRIORITY, tools("git", "search"), tools("jira", "search", "open"));

    assertThat(listed(names)).containsExactly("search", "open");
    assertThat(names.find(Kind.TOOL, "search").map(Target::member)).contains("git");
    assertThat(names.dropped()).containsExactly("tool search of jira: git has the name");
  }

  @Test
  void shouldDropNamesThatCouldMeanSeveralTools() {
    Names names = names(Naming.PREFIX, tools("a", "b__c", "d"), tools("a__b", "c"));

    assertThat(listed(names)).containsExactly("a__d");
    assertThat(names.find(Kind.TOOL, "a__b__c")).isEmpty();
    assertThat(names.dropped()).containsExactly("tool a__b__c: it could be of a or a__b");
  }

  @Test
  void shouldRenameAndHideTools() {
    MergeSettings settings =
        new MergeSettings(
            "default",
            List.of(),
            Naming.PREFIX,
            Map.of("git/search", "find_code"),
            NamePatterns.of(List.of("git/*")),
            NamePatterns.of(List.of("*/delete*")),
            Duration.ofSeconds(1),
            false);
    Names names =
        new Names(
            List.of(tools("git", "search", "log", "delete_all"), tools("jira", "open")), settings);

    assertThat(listed(names)).containsExactly("find_code", "git__log");
    assertThat(names.find(Kind.TOOL, "git__search")).isEmpty();
    assertThat(names.find(Kind.TOOL, "git__delete_all")).isEmpty();
    assertThat(names.find(Kind.TOOL, "jira__open")).isEmpty();
  }

  @Test
  void shouldKeepAllElseOfATool() {
    String json = "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"a\":1.0}}";
    Names names =
        names(Naming.PREFIX, member("s", Map.of(Kind.TOOL, List.of(new Item("x", json)))));

    assertThat(names.find(Kind.TOOL, "s__x").map(Target::json))
        .contains(json.replace("\"x\"", "\"s__x\""));
  }

  @Test
  void shouldListInPages() {
    String[] many = IntStream.range(0, 2500).mapToObj(i -> "tool" + i).toArray(String[]::new);
    Names names = names(Naming.PREFIX, tools("s", many));

    List<String> found = new ArrayList<>();
    int pages = 0;
    String cursor = null;
    do {
      byte[] page = bytes(names.page(Kind.TOOL, cursor));
      JsonEdit.elements(JsonEdit.raw(page, "tools")).forEach(tool -> found.add(name(tool)));
      cursor = JsonEdit.raw(page, "nextCursor");
      pages++;
    } while (cursor != null);

    assertThat(pages).isEqualTo(3);
    assertThat(found).hasSize(2500).doesNotHaveDuplicates().endsWith("s__tool2499");
  }

  @ParameterizedTest
  @CsvSource({"'\"bm9uZQ\"'", "'\"?\"'", "7"})
  void shouldRefuseUnknownCursors(String cursor) {
    assertThat(names(Naming.PREFIX, tools("s", "x")).page(Kind.TOOL, cursor)).isNull();
  }

  @Test
  void shouldTellWhichServersAreAway() {
    Names names =
        new Names(
            List.of(tools("a", "x"), new Names.Member("b", null, "it is asleep")),
            settings(Naming.PREFIX));

    assertThat(names.page(Kind.TOOL, null))
        .contains("\"_meta\":{\"dev.holdfast/unavailable\":{\"b\":\"it is asleep\"}}");
    assertThat(names.capabilities()).contains("prompts");
  }

  @Test
  void shouldFindTheServerOfAResource() {
    Names names =
        names(
            Naming.PREFIX,
            member(
                "files",
                Map.of(
                    Kind.RESOURCE, List.of(new Item("file:///a", "{\"uri\":\"file:///a\"}")),
                    Kind.TEMPLATE,
                        List.of(
                            new Item(
                                "db://{table}/{id}", "{\"uriTemplate\":\"db://{table}/{id}\"}")))),
            member(
                "other",
                Map.of(Kind.RESOURCE, List.of(new Item("file:///a", "{\"uri\":\"file:///a\"}")))));

    assertThat(names.server("file:///a")).contains("files");
    assertThat(names.server("db://users/7")).contains("files");
    assertThat(names.server("file:///unknown")).isEmpty();
    assertThat(names.dropped()).containsExactly("resource file:///a of other: files has it");
  }

  @Test
  void shouldAskTheOnlyServerForResourcesThatNoneLists() {
    assertThat(names(Naming.PREFIX, tools("only", "x")).server("memo://1")).contains("only");
  }

  @Test
  void shouldJoinCapabilitiesAndInstructions() {
    Names names = names(Naming.PREFIX, tools("a", "x"), tools("b", "y"));

    assertThat(names.capabilities())
        .isEqualTo(
            "{\"logging\":{},\"tools\":{\"listChanged\":true},"
                + "\"resources\":{\"listChanged\":true,\"subscribe\":true}}");
    assertThat(names.instructions(4)).isEqualTo("# a\nUse \n\n# b\nUse ");
  }

  private static Names names(Naming naming, Names.Member... members) {
    return new Names(List.of(members), settings(naming));
  }

  private static MergeSettings settings(Naming naming) {
    return MergeFixture.settings(naming, Duration.ofSeconds(1));
  }

  private static Names.Member tools(String server, String... names) {
    List<Item> items =
        List.of(names).stream().map(name -> new Item(name, "{\"name\":\"" + name + "\"}")).toList();
    return member(server, Map.of(Kind.TOOL, items));
  }

  private static Names.Member member(String server, Map<Kind, List<Item>> lists) {
    return new Names.Member(server, new Offer(CAPABILITIES, "Use " + server, false, lists), null);
  }

  private static List<String> listed(Names names) {
    return JsonEdit.elements(JsonEdit.raw(bytes(names.page(Kind.TOOL, null)), "tools")).stream()
        .map(NamesTest::name)
        .toList();
  }

  private static String name(String tool) {
    return String.valueOf(JsonEdit.text(JsonEdit.raw(bytes(tool), "name")));
  }

  private static byte[] bytes(@Nullable String json) {
    return Objects.requireNonNull(json).getBytes(StandardCharsets.UTF_8);
  }
}

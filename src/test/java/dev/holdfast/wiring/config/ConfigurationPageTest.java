package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.config.Range;
import dev.holdfast.http.limit.MessageBytes;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** Compares the tables of docs/configuration.md with the configuration mappings. */
class ConfigurationPageTest {

  private static final Path PAGE = Path.of("docs", "configuration.md");

  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| (?:`([^`]*)`|–) \\| ([^|]+) \\| (.+) \\|$");

  private static final Pattern BOUND =
      Pattern.compile("(?m)^\\| [^|`]+ \\| `([^`]+)` \\| (?:`([^`]*)`|–) \\| [^|]+ \\|$");

  /** The page lists the keys of a named upstream once, as those of the default upstream. */
  private static final Pattern REPEATED = Pattern.compile("upstreams\\.<name>\\.(?!url$).+");

  /** What the page lists for types without bounds in annotations. */
  private static final Map<Type, String> VALUES =
      Map.of(
          boolean.class, "`true`, `false`",
          Boolean.class, "`true`, `false`",
          String.class, "text",
          URI.class, "URL",
          Path.class, "path",
          MemorySize.class, "size, `1K` to `1T`",
          MessageBytes.class, "size, `1K` to `256M`");

  private record Row(
      String key, String variable, String defaultValue, String values, String meaning) {}

  private static List<Row> rows() throws IOException {
    return ROW.matcher(Files.readString(PAGE))
        .results()
        .map(row ->
            new Row(
                row.group(1),
                row.group(2),
                Objects.requireNonNullElse(row.group(3), ""),
                row.group(4),
                row.group(5)))
        .toList();
  }

  @Test
  void shouldListEveryKeyWithItsDefault() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    ConfigFixture.defaults()
        .forEach((key, value) ->
            expected.put(key.substring("holdfast.".length()).replace("*", "<name>"), value));
    expected.keySet().removeIf(REPEATED.asMatchPredicate());

    Map<String, String> listed =
        rows().stream().collect(Collectors.toMap(Row::key, Row::defaultValue));

    assertThat(listed).containsExactlyInAnyOrderEntriesOf(expected);
  }

  @Test
  void shouldNameVariablesAfterTheirKeys() throws IOException {
    assertThat(rows())
        .allSatisfy(row ->
            assertThat(row.variable())
                .isEqualTo(row.key().toUpperCase(Locale.ROOT).replaceAll("[.-]", "_")));
  }

  @Test
  void shouldListTheValuesOfEveryKey() throws IOException {
    Map<String, String> expected =
        UnknownVariables.MAPPINGS.stream()
            .flatMap(
                mapping -> values(mapping.getAnnotation(ConfigMapping.class).prefix(), mapping))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    expected.keySet().removeIf(REPEATED.asMatchPredicate());

    Map<String, String> listed = rows().stream().collect(Collectors.toMap(Row::key, Row::values));

    assertThat(listed).containsExactlyInAnyOrderEntriesOf(expected);
  }

  /** Every limit on what a client or an upstream chooses is in SECURITY.md, with its default. */
  @Test
  void shouldListLimitsAsBounds() throws IOException {
    Map<String, String> limits =
        rows().stream()
            .filter(
                row -> row.meaning().toLowerCase(Locale.ROOT).matches(".*(limit on|time limit) .*"))
            .collect(Collectors.toMap(Row::key, Row::defaultValue));

    Map<String, String> bounds =
        BOUND
            .matcher(Files.readString(Path.of("SECURITY.md")))
            .results()
            .collect(
                Collectors.toMap(
                    row -> row.group(1), row -> Objects.requireNonNullElse(row.group(2), "")));

    assertThat(bounds).containsAllEntriesOf(limits);
    assertThat(rows()).extracting(Row::key, Row::defaultValue).containsAll(tuples(bounds));
  }

  private static List<Tuple> tuples(Map<String, String> entries) {
    return entries.entrySet().stream().map(each -> tuple(each.getKey(), each.getValue())).toList();
  }

  /** Returns each key below the prefix, with the values that its method allows. */
  private static Stream<Map.Entry<String, String>> values(String prefix, Class<?> mapping) {
    return Arrays.stream(mapping.getMethods())
        .filter(method -> !method.isDefault())
        .flatMap(method -> {
          String name = method.getName().replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT);
          return values(prefix + "." + name, method, method.getGenericReturnType());
        });
  }

  private static Stream<Map.Entry<String, String>> values(String key, Method method, Type type) {
    if (type instanceof ParameterizedType generic && generic.getRawType() != List.class) {
      boolean map = generic.getRawType() == Map.class;
      Type value = generic.getActualTypeArguments()[map ? 1 : 0];
      return values(map ? key + ".<name>" : key, method, value);
    }
    if (type instanceof Class<?> group && group.isInterface() && group != Path.class) {
      return values(key, group);
    }
    return Stream.of(Map.entry(key.substring("holdfast.".length()), values(method, type)));
  }

  private static String values(Method method, Type type) {
    if (type instanceof ParameterizedType) {
      return "list";
    }
    if (type instanceof Class<?> choice && choice.isEnum()) {
      return Arrays.stream(choice.getEnumConstants())
          .map(each -> "`" + each.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
          .collect(Collectors.joining(", "));
    }
    Range range = method.getAnnotation(Range.class);
    return range == null
        ? VALUES.getOrDefault(type, "no values are known of " + type)
        : (type == Duration.class ? "duration" : "number")
            + ", `%s` to `%s`".formatted(range.min(), range.max());
  }
}

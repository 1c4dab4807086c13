package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the smallest values in which two JSON documents differ. */
final class JsonDifferences {

  private final List<Pattern> ignored;

  /** Gets a difference. A value that one document does not have is null. */
  @FunctionalInterface
  interface Visitor {
    void differs(String pointer, @Nullable JsonNode recorded, @Nullable JsonNode live);
  }

  /**
   * Prepares comparisons.
   *
   * @param ignored JSON pointers (RFC 6901); a {@code *} stands for any name or index
   */
  JsonDifferences(List<String> ignored) {
    this.ignored = ignored.stream().map(JsonDifferences::pattern).toList();
  }

  private static Pattern pattern(String pointer) {
    return Pattern.compile(
        Stream.of(pointer.split("/", -1))
            .map(name -> name.equals("*") ? "[^/]*" : Pattern.quote(name))
            .collect(Collectors.joining("/")));
  }

  void find(@Nullable JsonNode recorded, @Nullable JsonNode live, Visitor visitor) {
    find("", recorded, live, visitor);
  }

  private void find(
      String pointer, @Nullable JsonNode recorded, @Nullable JsonNode live, Visitor visitor) {
    if (ignored.stream().anyMatch(each -> each.matcher(pointer).matches())) {
      return;
    }
    if (recorded != null && live != null && recorded.isObject() && live.isObject()) {
      Set<String> names = new LinkedHashSet<>();
      recorded.fieldNames().forEachRemaining(names::add);
      live.fieldNames().forEachRemaining(names::add);
      for (String name : names) {
        String escaped = name.replace("~", "~0").replace("/", "~1");
        find(pointer + "/" + escaped, recorded.get(name), live.get(name), visitor);
      }
    } else if (recorded != null && live != null && recorded.isArray() && live.isArray()) {
      for (int i = 0; i < Math.max(recorded.size(), live.size()); i++) {
        find(pointer + "/" + i, recorded.get(i), live.get(i), visitor);
      }
    } else if (recorded == null ? live != null : !recorded.equals(live)) {
      visitor.differs(pointer, recorded, live);
    }
  }
}

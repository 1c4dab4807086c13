package dev.holdfast.clients;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compares two JSON values. */
final class JsonDifferences {
  private JsonDifferences() {}

  /**
   * Each pointer at which the values differ, with both. Numbers differ in type, too, and objects in
   * the order of their members.
   *
   * @param path precedes the pointers
   * @param one null if it is absent; not both are
   * @param other likewise
   */
  static Stream<String> find(String path, @Nullable JsonNode one, @Nullable JsonNode other) {
    if (one == null || other == null) {
      return Stream.of(difference(path, one, other));
    }
    if (one.isObject() && other.isObject()) {
      return Stream.concat(inMembers(path, one, other), inOrder(path, one, other));
    }
    if (one.isArray() && other.isArray()) {
      return IntStream.range(0, Math.max(one.size(), other.size()))
          .boxed()
          .flatMap(i -> find(path + "/" + i, one.get(i), other.get(i)));
    }
    return one.equals(other) ? Stream.of() : Stream.of(difference(path, one, other));
  }

  private static Stream<String> inMembers(String path, JsonNode one, JsonNode other) {
    Set<String> names = new TreeSet<>(names(one));
    names.addAll(names(other));
    return names.stream().flatMap(name -> find(path + "/" + name, one.get(name), other.get(name)));
  }

  private static Stream<String> inOrder(String path, JsonNode one, JsonNode other) {
    List<String> names = names(one);
    List<String> otherNames = names(other);
    boolean sameNames = Set.copyOf(names).equals(Set.copyOf(otherNames));
    return !sameNames || names.equals(otherNames)
        ? Stream.of()
        : Stream.of("%s: members %s != %s".formatted(path, names, otherNames));
  }

  private static List<String> names(JsonNode object) {
    return object.propertyStream().map(property -> property.getKey()).toList();
  }

  private static String difference(String path, @Nullable JsonNode one, @Nullable JsonNode other) {
    return "%s: %s != %s".formatted(path, one, other);
  }
}

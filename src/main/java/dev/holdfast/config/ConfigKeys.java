package dev.holdfast.config;

import io.quarkus.runtime.configuration.DurationConverter;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMappingInterface.Property;
import io.smallrye.config.ConfigMappings;
import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.PropertyName;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.URI;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The configuration keys of mappings: which values they allow, and which one may be meant. */
public final class ConfigKeys {

  /** As many wrong characters are taken for a typing error. */
  private static final int MAX_TYPO = 3;

  /** In names of keys, a star stands for the name of an upstream, header or variable. */
  private final Map<PropertyName, Property> byName = new HashMap<>();

  /** Reads the keys of mappings. */
  public ConfigKeys(List<Class<?>> mappings) {
    for (Class<?> mapping : mappings) {
      ConfigMappings.getProperties(ConfigClass.configClass(mapping))
          .forEach((name, property) -> byName.put(new PropertyName(name), property));
    }
    byName.keySet().removeIf(name -> name.getName().endsWith("[*]"));
  }

  Stream<String> names() {
    return byName.keySet().stream()
        .map(PropertyName::getName)
        .filter(name -> name.indexOf('*') < 0);
  }

  /** Returns an example of a value of a key: its default. */
  Optional<String> example(String key) {
    return property(key).filter(Property::hasDefaultValue).map(Property::getDefaultValue);
  }

  /** Returns the key that may be meant by another one. */
  public Optional<String> nearest(String key) {
    return nearest(key, UnaryOperator.identity());
  }

  /** Returns the environment variable that may be meant by another one. */
  public Optional<String> nearestVariable(String variable) {
    return nearest(variable, ConfigOrigin::variable);
  }

  private Optional<String> nearest(String wrong, UnaryOperator<String> form) {
    return byName.keySet().stream()
        .map(PropertyName::getName)
        .map(form)
        .map(name -> withNamesOf(wrong, name))
        .min(
            Comparator.<String>comparingInt(name -> distance(wrong, name))
                .thenComparing(Comparator.naturalOrder()))
        .filter(nearest -> distance(wrong, nearest) <= MAX_TYPO);
  }

  /** Puts the name of the upstream in the wrong key into a key with a star for it. */
  private static String withNamesOf(String wrong, String name) {
    int star = name.indexOf('*');
    if (star < 0 || !wrong.regionMatches(0, name, 0, star)) {
      return name;
    }
    int end =
        IntStream.range(star, wrong.length())
            .filter(at -> wrong.charAt(at) == name.charAt(star - 1))
            .findFirst()
            .orElse(wrong.length());
    return name.substring(0, star) + wrong.substring(star, end) + name.substring(star + 1);
  }

  /** The number of characters to insert, remove or replace (Levenshtein). */
  static int distance(String one, String other) {
    int[] row = IntStream.rangeClosed(0, other.length()).toArray();
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }

  /** Returns what a value of a key must be, with an example; empty if any text is allowed. */
  Optional<String> allowed(String key) {
    return property(key).flatMap(ConfigKeys::allowed);
  }

  /** Returns whether a value has the right type for a key, but is out of its range. */
  boolean isOutOfRange(String key, String value) {
    Range range =
        property(key).map(found -> found.getMethod().getAnnotation(Range.class)).orElse(null);
    if (range == null) {
      return false;
    }
    return isDuration(range)
        ? isOutOfRange(range, value, DurationConverter::parseDuration)
        : isOutOfRange(range, value, Integer::valueOf);
  }

  private static <T extends Comparable<T>> boolean isOutOfRange(
      Range range, String text, Function<String, T> parser) {
    if (text.isBlank()) {
      return false; // As if the key were missing.
    }
    try {
      T value = parser.apply(text);
      return value.compareTo(parser.apply(range.min())) < 0
          || value.compareTo(parser.apply(range.max())) > 0;
    } catch (IllegalArgumentException wrongType) {
      return false;
    }
  }

  private Optional<Property> property(String key) {
    return Optional.ofNullable(byName.get(new PropertyName(key)));
  }

  private static Optional<String> allowed(Property key) {
    Range range = key.getMethod().getAnnotation(Range.class);
    if (range != null) {
      String kind = isDuration(range) ? "a duration of " : "a whole number of ";
      String example = key.hasDefaultValue() ? key.getDefaultValue() : example(range);
      return Optional.of(kind + range.min() + " to " + range.max() + ", such as " + example);
    }
    Class<?> type = type(key.getMethod().getGenericReturnType());
    if (type == MemorySize.class) {
      return Optional.of(
          "a size of 1K to 1T, such as " + (key.hasDefaultValue() ? key.getDefaultValue() : "10M"));
    }
    if (type == URI.class) {
      return Optional.of("a URL, such as http://localhost:3000/mcp");
    }
    return type == boolean.class ? Optional.of("true or false") : Optional.empty();
  }

  private static boolean isDuration(Range range) {
    return !range.min().matches("-?\\d+");
  }

  private static String example(Range range) {
    return isDuration(range)
        ? range.max()
        : Integer.toString(Math.min(100, Integer.parseInt(range.max())));
  }

  private static Class<?> type(Type type) {
    if (type instanceof ParameterizedType of) {
      return type(of.getActualTypeArguments()[0]);
    }
    return type instanceof Class<?> plain ? plain : Object.class;
  }
}

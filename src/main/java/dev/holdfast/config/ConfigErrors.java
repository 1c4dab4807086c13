package dev.holdfast.config;

import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Says in plain words what is wrong with a configuration that the framework cannot read: one line
 * for each key, with the place where it is set and what is allowed. It never quotes a value that
 * may be a URL, because an invalid URL may have its password anywhere.
 *
 * @param config the same sources, read without their types
 */
public record ConfigErrors(ConfigKeys keys, SmallRyeConfig config) {

  /** Keys of Quarkus without a mapping of ours: what a value must be, by the reason given. */
  private static final Map<String, String> KINDS =
      Map.of(
          "Expected an integer value", "a whole number, such as 10",
          "Expected a long value", "a whole number, such as 10",
          "Invalid duration", "a duration, such as 30s",
          "not in correct format", "a size, such as 10M");

  /** Returns a line for each problem. */
  public List<String> lines(ConfigValidationException refused) {
    Map<String, String> lines = new LinkedHashMap<>();
    for (int at = 0; at < refused.getProblemCount(); at++) {
      String problem = refused.getProblem(at).getMessage();
      String key = key(problem).orElse(problem);
      lines.putIfAbsent(
          key, key.equals(problem) ? problem.lines().findFirst().orElse("") : line(key, problem));
    }
    keysOutOfRange().forEach(key -> lines.putIfAbsent(key, line(key, "")));
    return List.copyOf(lines.values());
  }

  /** Returns a line for each value that has the right type, but is out of its {@link Range}. */
  public List<String> outOfRange() {
    return keysOutOfRange().map(key -> line(key, "")).toList();
  }

  private Stream<String> keysOutOfRange() {
    return Stream.concat(keys.names(), ConfigOrigin.keys(config))
        .distinct()
        .filter(key -> value(key).filter(value -> keys.isOutOfRange(key, value)).isPresent())
        .sorted();
  }

  private Optional<String> value(String key) {
    return Optional.ofNullable(config.getConfigValue(key).getValue());
  }

  private String named(String key) {
    return ConfigOrigin.named(config, key);
  }

  /** Returns the key that a problem is about. Its value may look like a key, too. */
  private static Optional<String> key(String problem) {
    String named = problem.substring(Math.max(0, problem.lastIndexOf(" in property ")));
    return Stream.of(named.split("\\s+"))
        .filter(word -> word.startsWith("holdfast.") || word.startsWith("quarkus."))
        .findFirst();
  }

  /** Returns what stands in a text after a mark, and before the next end. */
  private static Optional<String> after(String text, String mark, String end) {
    int begin = text.indexOf(mark) + mark.length();
    int next = text.indexOf(end, begin);
    return begin < mark.length()
        ? Optional.empty()
        : Optional.of(text.substring(begin, next < 0 ? text.length() : next));
  }

  private String line(String key, String problem) {
    if (problem.contains("does not map to any root")) {
      return named(key)
          + " is not a configuration key: "
          + keys.nearest(key)
              .map(nearest -> "is it " + nearest + "?")
              .orElse("remove it; docs/configuration.md lists all keys");
    }
    Optional<String> variable = after(problem, "expand value ", " in property ");
    if (variable.isPresent()) {
      return "%s refers to ${%s}, which is not set: set it, or give a default, as in ${%2$s:none}"
          .formatted(named(key), variable.get());
    }
    String value = value(key).orElse(null);
    if (value == null) {
      return key + " is not set: give it a value";
    }
    Optional<String> allowed = allowed(key, problem);
    if (value.isEmpty()) {
      return named(key)
          + " has no value: "
          + allowed.map(text -> "it must be " + text).orElse("give it one, or remove it");
    }
    String fault = problem.contains(" at index ") ? fault(value) : "";
    String rule =
        allowed
            .map(text -> " must be " + text)
            .orElse(fault.isEmpty() ? " must be another value" : " is not a URL");
    // Numbers, sizes, durations and names of choices are no URLs.
    return named(key) + rule + (value.matches("[\\w.,+-]*") ? ", not " + value : fault);
  }

  /** Returns why a value is not a URL, in brackets and without the value. */
  private static String fault(String value) {
    try {
      URI _ = new URI(value);
      return "";
    } catch (URISyntaxException invalid) {
      String reason = invalid.getReason();
      return " (%s%s at index %d)"
          .formatted(
              Character.toLowerCase(reason.charAt(0)), reason.substring(1), invalid.getIndex());
    }
  }

  /** Returns what the key allows, by its type or else by the reason of the converter. */
  private Optional<String> allowed(String key, String problem) {
    String example = keys.example(key).orElse(key.endsWith(".port") ? "8080" : "");
    return after(problem, "allowed values: ", " ")
        .map(choices -> choices.replace(",", ", ").replaceFirst(", ([^,]+)$", " or $1"))
        .or(() -> keys.allowed(key))
        .or(() ->
            after(problem, " converted must be ", ", not ")
                .map(rule ->
                    example.isEmpty() || rule.contains("such as")
                        ? rule
                        : rule + ", such as " + example))
        .or(() ->
            KINDS.entrySet().stream()
                .filter(kind -> problem.contains(kind.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .map(kind -> example.isEmpty() ? kind : kind.replaceFirst("\\S+$", example)));
  }
}

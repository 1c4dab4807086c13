package dev.holdfast.config;

import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Says in plain words what is wrong with a configuration that the framework cannot read: one line
 * for each key, with the place where it is set and what is allowed. It never quotes a value that
 * may be a URL, because an invalid URL may have its password anywhere.
 *
 * @param config the same sources, read without their types
 */
public record ConfigErrors(ConfigKeys keys, SmallRyeConfig config) {

  private static final Pattern KEY = Pattern.compile("(?<![\\w.$])((?:holdfast|quarkus)\\.\\S+)");
  private static final Pattern UNSET = Pattern.compile("expand value (\\S+) in property (\\S+)");
  private static final Pattern CHOICES = Pattern.compile("allowed values: ([\\w,-]+)");

  /** The message of a converter of this program. */
  private static final Pattern RULE = Pattern.compile("(?s) converted must be (.*?)(?:, not .*)?$");

  private static final Pattern URL_FAULT = Pattern.compile(" converted ([\\w ]+ at index \\d+)");

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
    IntStream.range(0, refused.getProblemCount())
        .mapToObj(at -> refused.getProblem(at).getMessage())
        .forEach(problem -> explain(problem, lines));
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

  private void explain(String problem, Map<String, String> lines) {
    Optional<MatchResult> unset = UNSET.matcher(problem).results().findFirst();
    Optional<String> key = first(KEY, problem);
    if (unset.isPresent()) {
      String name = unset.get().group(2);
      String variable = unset.get().group(1);
      lines.putIfAbsent(
          name,
          "%s refers to ${%s}, which is not set: set it, or give a default, as in ${%s:none}"
              .formatted(named(name), variable, variable));
    } else if (key.isPresent()) {
      lines.putIfAbsent(key.get(), line(key.get(), problem));
    } else {
      lines.putIfAbsent(problem, problem.lines().findFirst().orElse(""));
    }
  }

  private String line(String key, String problem) {
    if (problem.contains("does not map to any root")) {
      return named(key)
          + " is not a configuration key: "
          + keys.nearest(key)
              .map(nearest -> "is it " + nearest + "?")
              .orElse("remove it; docs/configuration.md lists all keys");
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
    String fault =
        first(URL_FAULT, problem).map(text -> " (" + decapitalize(text) + ")").orElse("");
    String rule =
        allowed
            .map(text -> " must be " + text)
            .orElse(fault.isEmpty() ? " must be another value" : " is not a URL");
    // Numbers, sizes, durations and names of choices are no URLs.
    return named(key) + rule + (value.matches("[\\w.,+-]*") ? ", not " + value : fault);
  }

  private static Optional<String> first(Pattern pattern, String problem) {
    return pattern.matcher(problem).results().map(found -> found.group(1)).findFirst();
  }

  private static String decapitalize(String text) {
    return Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }

  /** What the key allows, by its type or else by the reason of the converter. */
  private Optional<String> allowed(String key, String problem) {
    String example = keys.example(key).orElse(key.endsWith(".port") ? "8080" : "");
    return first(CHOICES, problem)
        .map(choices -> choices.replace(",", ", ").replaceFirst(", ([^,]+)$", " or $1"))
        .or(() -> keys.allowed(key))
        .or(() ->
            first(RULE, problem)
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

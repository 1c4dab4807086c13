package dev.holdfast.config;

import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Says in plain words what is wrong with a configuration that the framework cannot read: one line
 * for each key, with the place where it is set and what is allowed. It never quotes a value that
 * may be a URL, because an invalid URL may have its password anywhere.
 *
 * @param keys the known keys
 * @param config the same sources, read without their types
 */
public record ConfigErrors(ConfigKeys keys, SmallRyeConfig config) {

  /** What the framework puts before a sentence. */
  private static final String START = "^(?:[\\w.$]+: )?(?:SRCFG\\d+: )?";

  /**
   * The value in a sentence, and why it is invalid. Numbers, sizes, durations and names of choices:
   * no URL.
   */
  private static final Pattern HARMLESS =
      Pattern.compile(
          "(?s)([\\w.,+-]*)\" threw an Exception whilst being converted (?:SRCFG\\d+: )?(.*)");

  private static final Pattern URL_FAULT =
      Pattern.compile("(?s).*converted ([\\w ]+ at index \\d+).*");
  private static final Pattern CHOICES = Pattern.compile(".* allowed values: ([\\w,-]+)");
  private static final Pattern RULE =
      Pattern.compile("(?s)(?:.* converted )?must be (.*?)(, not .*)?");

  /** Keys of Quarkus without a mapping of ours: what a value must be, by the reason given. */
  private static final Map<String, String> KINDS =
      Map.of(
          "Expected an integer value", "a whole number, such as 10",
          "Expected a long value", "a whole number, such as 10",
          "Invalid duration", "a duration, such as 30s",
          "value .* not in correct format", "a size, such as 10M");

  /** Returns a line for each problem. */
  public List<String> lines(ConfigValidationException refused) {
    Map<String, String> lines = new LinkedHashMap<>();
    IntStream.range(0, refused.getProblemCount())
        .mapToObj(at -> refused.getProblem(at).getMessage())
        .forEach(problem -> explain(problem, lines));
    // The framework looks for values out of range only after all others are right.
    Stream.concat(
            keys.names(), StreamSupport.stream(config.getPropertyNames().spliterator(), false))
        .sorted()
        .forEach(key ->
            value(key)
                .filter(value -> keys.isOutOfRange(key, value))
                .ifPresent(value -> lines.putIfAbsent(key, outOfRange(key, value))));
    return List.copyOf(lines.values());
  }

  private String outOfRange(String key, String value) {
    return mustBe(key, keys.allowed(key).orElseThrow(), value);
  }

  private Optional<String> value(String key) {
    return Optional.ofNullable(config.getConfigValue(key).getValue());
  }

  private void explain(String problem, Map<String, String> lines) {
    String text = problem.replaceFirst(START, "");
    // The sentences of the framework, and at the end that of RangeValidator.
    Stream.of(
            line(
                "The (?:config )?property (?<key>\\S+) with the config value \"(?<rest>.*)",
                text,
                this::invalid),
            line(
                "The config property (?<key>\\S+) is defined as the empty (?<rest>.*)",
                text,
                (key, _) -> empty(key)),
            line(
                "The config property (?<key>\\S+) is required but (?<rest>.*)",
                text,
                (key, _) -> key + " is not set: give it a value"),
            line(
                "(?<key>\\S+) in (?<rest>.*) does not map to any root",
                text,
                (key, _) -> unknown(key)),
            line(
                "Could not expand value (?<rest>\\S+) in property (?<key>\\S+)", text, this::unset),
            line(
                "(?<key>holdfast\\.\\S+) must be (?<rest>.*)",
                text,
                (key, _) -> outOfRange(key, value(key).orElse(""))))
        .flatMap(Optional::stream)
        .findFirst()
        .or(() -> Optional.of(Map.entry(problem, text.lines().findFirst().orElse(""))))
        .ifPresent(line -> lines.putIfAbsent(line.getKey(), line.getValue()));
  }

  /** Returns the line for a key if the text is such a sentence. */
  private static Optional<Map.Entry<String, String>> line(
      String sentence, String text, BinaryOperator<String> lineOfKeyAndRest) {
    Matcher found = Pattern.compile(sentence, Pattern.DOTALL).matcher(text);
    return found.matches()
        ? Optional.of(
            Map.entry(
                found.group("key"),
                lineOfKeyAndRest.apply(found.group("key"), found.group("rest"))))
        : Optional.empty();
  }

  private String named(String key) {
    return ConfigOrigin.named(config, key);
  }

  private String mustBe(String key, String allowed, String value) {
    return named(key) + " must be " + allowed + ", not " + value;
  }

  private String invalid(String key, String valueAndReason) {
    Matcher harmless = HARMLESS.matcher(valueAndReason);
    if (harmless.matches()) {
      String allowed = allowed(key, harmless.group(2)).orElse("another value");
      return mustBe(key, allowed, harmless.group(1));
    }
    Matcher rule = RULE.matcher(valueAndReason);
    if (rule.matches()) {
      return named(key) + " must be " + rule.group(1);
    }
    Matcher url = URL_FAULT.matcher(valueAndReason);
    String fault = url.matches() ? " (" + decapitalize(url.group(1)) + ")" : "";
    return keys.allowed(key)
        .map(allowed -> named(key) + " must be " + allowed + fault)
        .orElseGet(() ->
            named(key) + (fault.isEmpty() ? " has an invalid value" : " is not a URL" + fault));
  }

  private static String decapitalize(String text) {
    return Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }

  private static Optional<String> choices(String reason) {
    Matcher choices = CHOICES.matcher(reason);
    return choices.matches()
        ? Optional.of(choices.group(1).replace(",", ", ").replaceFirst(", ([^,]+)$", " or $1"))
        : Optional.empty();
  }

  /** What the key allows, by its type or else by the reason of the converter. */
  private Optional<String> allowed(String key, String reason) {
    return choices(reason)
        .or(() -> keys.allowed(key))
        .or(() -> rule(key, reason))
        .or(() ->
            KINDS.entrySet().stream()
                .filter(kind -> reason.matches("(?s)" + kind.getKey() + ".*"))
                .map(Map.Entry::getValue)
                .findFirst()
                .map(allowed ->
                    example(key)
                        .map(own -> allowed.replaceFirst("\\S+$", Matcher.quoteReplacement(own)))
                        .orElse(allowed)));
  }

  private Optional<String> example(String key) {
    return keys.example(key).or(() -> Optional.of("8080").filter(_ -> key.endsWith(".port")));
  }

  private Optional<String> rule(String key, String reason) {
    Matcher rule = RULE.matcher(reason);
    return rule.matches()
        ? Optional.of(
            rule.group(1) + keys.example(key).map(example -> ", such as " + example).orElse(""))
        : Optional.empty();
  }

  private String empty(String key) {
    String example = keys.allowed(key).map(allowed -> ": it must be " + allowed).orElse("");
    return named(key)
        + " has no value"
        + (example.isEmpty() ? ": give it one, or remove it" : example);
  }

  private String unknown(String key) {
    String meant =
        keys.nearest(key)
            .map(nearest -> "is it " + nearest + "?")
            .orElse("remove it; docs/configuration.md lists all keys");
    return named(key) + " is not a configuration key: " + meant;
  }

  private String unset(String key, String variable) {
    return "%s refers to ${%s}, which is not set: set it, or give a default, as in ${%s:none}"
        .formatted(named(key), variable, variable);
  }
}

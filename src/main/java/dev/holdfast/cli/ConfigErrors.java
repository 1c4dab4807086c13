package dev.holdfast.cli;

import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Says in plain words what the framework says about a configuration that it cannot read: the key,
 * where its value comes from, and what is allowed. Never quotes a value that may be a URL, because
 * an invalid URL may have its password anywhere.
 *
 * @param environment the value of a variable of the environment, or null
 */
record ConfigErrors(UnaryOperator<@Nullable String> environment) {

  /** A problem that the framework reports on a line of its own. A value may have several lines. */
  private static final Pattern INVALID_VALUE =
      Pattern.compile(
          "(?s)(?:[\\w.$]+: )?(?:SRCFG00039: )?The (?:config )?property (\\S+) with the config"
              + " value \"(.*?)(?=\\n\\t|\\z)");

  /** The rest of such a problem. Numbers, sizes, durations and names of choices: no URL. */
  private static final Pattern HARMLESS =
      Pattern.compile(
          "([\\w.,+-]*)\" threw an Exception whilst being converted (?:SRCFG\\d+: )?(.*)");

  private static final Pattern REASON = Pattern.compile("converted ([\\w ]+ at index \\d+)");
  private static final Pattern CHOICES = Pattern.compile(".* allowed values: ([\\w,-]+)");
  private static final Pattern RANGE = Pattern.compile("(must be .*), not .*");

  private static final Pattern EMPTY =
      Pattern.compile(
          "(?:[\\w.$]+: )?SRCFG00040: The config property (\\S+) is defined as the empty .*");

  private static final Pattern UNKNOWN =
      Pattern.compile(
          "(?:[\\w.$]+: )?SRCFG00050: (\\S+) in (?:\\w+\\[source=)?(.*?)]? does not map to any"
              + " root");

  /** What a value must be, by what the framework says of another one. */
  private static final Map<String, String> KINDS =
      Map.of(
          "Expected an integer value", "a whole number",
          "Expected a long value", "a whole number",
          "Invalid duration", "a duration such as 500ms, 30s or 5m",
          "value .* not in correct format", "a size such as 512K, 10M or 2G");

  /** Returns the text of the framework with all problems in plain words. */
  String explain(String text) {
    String explained = INVALID_VALUE.matcher(text).replaceAll(this::invalid);
    explained = EMPTY.matcher(explained).replaceAll(found -> quote(found, 1, " has no value"));
    return UNKNOWN.matcher(explained).replaceAll("$1 is not a configuration key. It is in $2");
  }

  private String invalid(MatchResult problem) {
    return Matcher.quoteReplacement(named(problem.group(1)) + " " + fault(problem.group(2)));
  }

  private String quote(MatchResult found, int group, String text) {
    return Matcher.quoteReplacement(named(found.group(group)) + text);
  }

  /** The key, with the variable that sets it. */
  private String named(String key) {
    String variable = key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
    return environment.apply(variable) == null ? key : key + " (" + variable + ")";
  }

  private static String fault(String valueAndReason) {
    Matcher harmless = HARMLESS.matcher(valueAndReason);
    if (harmless.matches()) {
      return expected(harmless.group(2)) + ", not " + harmless.group(1);
    }
    Matcher reason = REASON.matcher(valueAndReason);
    if (reason.find()) {
      return "is not a valid URL: " + reason.group(1);
    }
    return "has an invalid value";
  }

  private static String expected(String reason) {
    Matcher choices = CHOICES.matcher(reason);
    if (choices.matches()) {
      return "must be one of " + choices.group(1).replace(",", ", ");
    }
    Matcher range = RANGE.matcher(reason);
    if (range.matches()) {
      return range.group(1);
    }
    return KINDS.entrySet().stream()
        .filter(kind -> reason.matches("(?s)" + kind.getKey() + ".*"))
        .findFirst()
        .map(kind -> "must be " + kind.getValue())
        .orElse("must be another value");
  }
}

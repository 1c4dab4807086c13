package dev.holdfast.intercept;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Patterns of names, where {@code *} stands for any characters.
 *
 * @param pattern matches what one of them matches
 */
record NamePatterns(Pattern pattern) {

  /** Patterns that tell capital letters from small ones. */
  static NamePatterns of(List<String> names) {
    return of(names, 0);
  }

  /** Patterns that do not. */
  static NamePatterns ignoringCase(List<String> names) {
    return of(names, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
  }

  private static NamePatterns of(List<String> names, int flags) {
    return new NamePatterns(
        Pattern.compile(
            names.stream().map(NamePatterns::regex).collect(Collectors.joining("|")),
            Pattern.DOTALL | flags));
  }

  private static String regex(String name) {
    return Stream.of(name.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
  }

  /** Whether one of the patterns matches. */
  boolean match(String name) {
    return pattern.matcher(name).matches();
  }
}

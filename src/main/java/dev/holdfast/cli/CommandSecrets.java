package dev.holdfast.cli;

import dev.holdfast.upstream.stdio.CommandLine;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hides what may be a secret in a command line: the values of options, variables and headers whose
 * names sound like one. It hides too much rather than too little.
 */
final class CommandSecrets {

  private static final String HIDDEN = "***";

  private static final String NAME =
      "[\\w.-]*(?:key|token|secret|passw|passphrase|pwd|credential|auth|bearer|cookie|header)[\\w.-]*";

  /** {@code --api-key=abc}, {@code API_KEY=abc}, {@code Authorization: Bearer abc}. */
  private static final Pattern WITH_VALUE =
      Pattern.compile("(-*" + NAME + "\\s*[=:]\\s*).+", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  /** {@code --token abc}, {@code Bearer abc}; a header or a variable after its short option. */
  private static final Pattern BEFORE_VALUE =
      Pattern.compile("(?i:-+" + NAME + "|bearer|-u|--user|--env)|-H|-e");

  private static final Pattern ASSIGNMENT = Pattern.compile("([^=:]+[=:]).+", Pattern.DOTALL);

  private CommandSecrets() {}

  /** The words of a command line, without secrets. */
  static String hide(String command) {
    List<String> words;
    try {
      words = CommandLine.parse(command);
    } catch (IllegalArgumentException quoteIsOpen) {
      return HIDDEN;
    }
    List<String> shown = new ArrayList<>();
    String before = "";
    for (String word : words) {
      String hidden = BEFORE_VALUE.matcher(before).matches() ? hideValue(word) : hideIn(word);
      shown.add(
          hidden.isEmpty() || !hidden.equals(hidden.strip()) || hidden.contains(" ")
              ? "'" + hidden + "'"
              : hidden);
      before = word;
    }
    return String.join(" ", shown);
  }

  /** The word after an option; another option is no value. */
  private static String hideValue(String word) {
    if (word.startsWith("-")) {
      return hideIn(word);
    }
    Matcher assignment = ASSIGNMENT.matcher(word);
    return assignment.matches() ? assignment.group(1) + HIDDEN : HIDDEN;
  }

  private static String hideIn(String word) {
    Matcher secret = WITH_VALUE.matcher(word);
    if (secret.matches()) {
      return secret.group(1) + HIDDEN;
    }
    // A shell's script.
    return word.chars().anyMatch(Character::isWhitespace) ? hide(word) : word;
  }
}

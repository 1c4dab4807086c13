package dev.holdfast.upstream.stdio;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Splits a command line into words like a shell, without variables, patterns and pipes.
 *
 * <p>White space separates words. A backslash makes the next character literal. Between single
 * quotes every character is literal. Between double quotes a backslash only escapes a double quote
 * or a backslash. Quotes may begin inside a word, and a pair of quotes alone is an empty word.
 */
public final class CommandLine {

  private static final Pattern PART =
      Pattern.compile(
          "\\G(?:(?<space>\\p{javaWhitespace}+)|'(?<literal>[^']*)'|\"(?<quoted>(?:[^\"\\\\]|\\\\.)*+)\""
              + "|\\\\(?<escaped>.)|(?<plain>[^\\p{javaWhitespace}'\"\\\\]+))",
          Pattern.DOTALL);

  private CommandLine() {}

  /**
   * Returns the program of a command line if there is no such program. Throws as {@link #parse}
   * does.
   *
   * @param line begins with a name, which is looked up in the {@code PATH} of this process, or a
   *     path
   * @param directory where a relative path begins
   */
  public static Optional<String> missingProgram(String line, Path directory) {
    return parse(line).stream().limit(1).filter(each -> !isInstalled(each, directory)).findFirst();
  }

  private static boolean isInstalled(String program, Path directory) {
    Stream<Path> places =
        program.contains("/")
            ? Stream.of(directory.toAbsolutePath())
            : Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(Path::of);
    return places.map(place -> place.resolve(program)).anyMatch(Files::isExecutable);
  }

  /**
   * Splits a text into its words.
   *
   * @return the words; may be empty
   * @throws IllegalArgumentException if a quote is not closed, or a backslash is the last character
   */
  public static List<String> parse(String text) {
    List<String> words = new ArrayList<>();
    @Nullable StringBuilder word = null;
    int end = 0;
    for (Matcher part = PART.matcher(text); part.find(); end = part.end()) {
      if (part.group("space") == null) {
        word = (word == null ? new StringBuilder() : word).append(characters(part));
      } else if (word != null) {
        words.add(word.toString());
        word = null;
      }
    }
    if (end < text.length()) {
      char last = text.charAt(end);
      throw new IllegalArgumentException(
          last == '\\'
              ? "command ends with a backslash: write \\\\ for a backslash itself"
              : "command has a quote that is not closed: add " + last + " at the end of the word");
    }
    if (word != null) {
      words.add(word.toString());
    }
    return List.copyOf(words);
  }

  private static String characters(Matcher part) {
    String quoted = part.group("quoted");
    return quoted != null
        ? quoted.replaceAll("\\\\([\"\\\\])", "$1")
        : Stream.of("literal", "escaped", "plain")
            .map(part::group)
            .filter(Objects::nonNull)
            .findFirst()
            .orElseThrow();
  }
}

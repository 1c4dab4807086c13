package dev.holdfast.upstream.stdio;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits a command line into words like a shell, without variables, patterns and pipes.
 *
 * <p>White space separates words. A backslash makes the next character literal. Between single
 * quotes every character is literal. Between double quotes a backslash only escapes a double quote
 * or a backslash. Quotes may begin inside a word, and a pair of quotes alone is an empty word.
 */
public final class CommandLine {

  private static final char NO_QUOTE = 0;

  private final String text;
  private final List<String> words = new ArrayList<>();
  private @Nullable StringBuilder word;
  private char quote = NO_QUOTE;
  private int at;

  private CommandLine(String text) {
    this.text = text;
  }

  /**
   * Splits a text into its words.
   *
   * @return the words; may be empty
   * @throws IllegalArgumentException if a quote is not closed, or a backslash is the last character
   */
  public static List<String> parse(String text) {
    CommandLine line = new CommandLine(text);
    for (; line.at < text.length(); line.at++) {
      line.read(text.charAt(line.at));
    }
    if (line.quote != NO_QUOTE) {
      throw new IllegalArgumentException("command has a quote that is not closed: " + line.quote);
    }
    line.endWord();
    return List.copyOf(line.words);
  }

  private void read(char c) {
    if (quote == '\'') {
      readQuoted(c);
    } else if (c == '\\') {
      readEscaped();
    } else if (quote == '"') {
      readQuoted(c);
    } else if (c == '\'' || c == '"') {
      quote = c;
      word();
    } else if (Character.isWhitespace(c)) {
      endWord();
    } else {
      word().append(c);
    }
  }

  private void readQuoted(char c) {
    if (c == quote) {
      quote = NO_QUOTE;
    } else {
      word().append(c);
    }
  }

  private void readEscaped() {
    if (at + 1 == text.length()) {
      throw new IllegalArgumentException("command ends with a backslash");
    }
    char next = text.charAt(at + 1);
    if (quote == '"' && next != '"' && next != '\\') {
      word().append('\\');
      return;
    }
    word().append(next);
    at++;
  }

  private StringBuilder word() {
    if (word == null) {
      word = new StringBuilder();
    }
    return word;
  }

  private void endWord() {
    if (word != null) {
      words.add(word.toString());
      word = null;
    }
  }
}

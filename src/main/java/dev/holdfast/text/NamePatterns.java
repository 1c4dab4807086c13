package dev.holdfast.text;

import java.util.List;

/**
 * Patterns of names, where {@code *} stands for any characters. Case, and white space around a
 * name, do not count: some servers ignore them.
 */
public final class NamePatterns {

  /** The pieces between the stars of each pattern. */
  private final List<List<String>> patterns;

  private NamePatterns(List<List<String>> patterns) {
    this.patterns = patterns;
  }

  /** Reads patterns. */
  public static NamePatterns of(List<String> patterns) {
    return new NamePatterns(
        patterns.stream().map(pattern -> List.of(plain(pattern).split("\\*", -1))).toList());
  }

  /** Returns the form of a name that it shares with all names that are the same. */
  public static String plain(String name) {
    return fold(name.strip());
  }

  /**
   * Returns the form that names share if they differ only in case (Unicode, Simple Case Folding).
   * The Kelvin sign is a k, and the long s an s.
   */
  public static String fold(String name) {
    StringBuilder folded = new StringBuilder(name.length());
    name.codePoints()
        .map(each -> Character.toLowerCase(Character.toUpperCase(each)))
        .forEach(folded::appendCodePoint);
    return folded.toString();
  }

  /** Tells if one of the patterns matches. Each pattern is matched in one pass over the name. */
  public boolean match(String name) {
    String plain = plain(name);
    return patterns.stream().anyMatch(pieces -> match(pieces, plain));
  }

  private static boolean match(List<String> pieces, String name) {
    String first = pieces.getFirst();
    String last = pieces.getLast();
    if (pieces.size() == 1) {
      return name.equals(first);
    }
    int end = name.length() - last.length();
    if (end < first.length() || !name.startsWith(first) || !name.endsWith(last)) {
      return false;
    }
    // The first place of a piece leaves the most for those that follow.
    int at = first.length();
    for (String piece : pieces.subList(1, pieces.size() - 1)) {
      int found = name.indexOf(piece, at, end);
      if (found < 0) {
        return false;
      }
      at = found + piece.length();
    }
    return true;
  }
}

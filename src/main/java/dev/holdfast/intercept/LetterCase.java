package dev.holdfast.intercept;

/** Case folding, for names that are compared without regard to case. */
final class LetterCase {

  private LetterCase() {}

  /**
   * Returns the form that names share if they differ only in case (Unicode, Simple Case Folding).
   * The Kelvin sign is a k, and the long s an s.
   */
  static String fold(String name) {
    StringBuilder folded = new StringBuilder(name.length());
    name.codePoints()
        .map(each -> Character.toLowerCase(Character.toUpperCase(each)))
        .forEach(folded::appendCodePoint);
    return folded.toString();
  }
}

package dev.holdfast.intercept;

/** Compares names as readers do that make no difference between capital and small letters. */
final class LetterCase {

  private LetterCase() {}

  /**
   * Returns the form that names share if they differ in the case of letters only (Unicode, Simple
   * Case Folding). The Kelvin sign is a k, and the long s an s.
   */
  static String fold(String name) {
    StringBuilder folded = new StringBuilder(name.length());
    name.codePoints()
        .map(each -> Character.toLowerCase(Character.toUpperCase(each)))
        .forEach(folded::appendCodePoint);
    return folded.toString();
  }
}

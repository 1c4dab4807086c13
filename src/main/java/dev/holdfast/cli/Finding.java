package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;

/**
 * What one look brought to light.
 *
 * @param name what was looked at
 * @param mend what to do about it; null when there is nothing to do
 * @param storeAway whether it is that the store cannot be reached
 */
record Finding(
    String name, Verdict verdict, String found, @Nullable String mend, boolean storeAway) {

  /** How bad it is. */
  enum Verdict {
    FINE("fine"),
    /** It works, and may not do what is expected of it. */
    DOUBTFUL("doubtful"),
    WRONG("wrong");

    private final String word;

    Verdict(String word) {
      this.word = word;
    }

    String word() {
      return word;
    }
  }

  static Finding fine(String name, String found) {
    return new Finding(name, Verdict.FINE, found, null, false);
  }

  static Finding doubtful(String name, String found, String mend) {
    return new Finding(name, Verdict.DOUBTFUL, found, mend, false);
  }

  static Finding wrong(String name, String found, String mend) {
    return new Finding(name, Verdict.WRONG, found, mend, false);
  }

  static Finding away(String name, String found, String mend) {
    return new Finding(name, Verdict.WRONG, found, mend, true);
  }
}

package dev.holdfast.log;

/**
 * Names the owner of streams, which begin and end together. To the log an opaque key.
 *
 * @param value at most 128 characters of URL-safe Base64 (RFC 4648, section 5), since it becomes
 *     part of keys in the store
 */
public record LogKey(String value) {

  private static final int MAX_LENGTH = 128;
  private static final int SHOWN = 6;

  /**
   * @throws IllegalArgumentException when the text has other characters or is too long
   */
  public LogKey {
    if (!isWord(value, MAX_LENGTH, "_-")) {
      throw new IllegalArgumentException("not a log key");
    }
  }

  /**
   * Returns whether all characters are alphanumeric ASCII ones or among {@code more}. Each request
   * calls this several times, and a loop is faster than a regular expression.
   */
  static boolean isWord(String text, int most, String more) {
    boolean valid = !text.isEmpty() && text.length() <= most;
    for (int i = 0; i < text.length() && valid; i++) {
      char c = text.charAt(i);
      valid =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || more.indexOf(c) >= 0;
    }
    return valid;
  }

  /** Shortens the key, which is a secret of the client if it is a session's id. */
  @Override
  public String toString() {
    return value.substring(0, Math.min(SHOWN, value.length())) + "…";
  }
}

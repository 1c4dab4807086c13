package dev.holdfast.log;

/**
 * The name of one stream of one session.
 *
 * @param session the session's id; to the log an opaque key
 * @param name the stream's name, unique in its session
 */
public record StreamRef(String session, String name) {

  private static final int MAX_SESSION = 128;
  private static final int MAX_NAME = 32;

  /**
   * @throws IllegalArgumentException when a part has other characters or is too long: both become
   *     parts of store keys, and the name becomes part of event ids
   */
  public StreamRef {
    if (!isWord(session, MAX_SESSION, "_-")) {
      throw new IllegalArgumentException("not a session key");
    }
    if (!isName(name)) {
      throw new IllegalArgumentException("not a stream name");
    }
  }

  /** Whether the text is a valid stream name. */
  public static boolean isName(String text) {
    return isWord(text, MAX_NAME, "");
  }

  /**
   * Returns whether all characters are ASCII letters, digits or one of {@code more}. Each request
   * calls this several times, and a loop is faster than a regular expression.
   */
  private static boolean isWord(String text, int most, String more) {
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

  /** Shortens the session id, which is a secret of the client. */
  @Override
  public String toString() {
    return session.substring(0, Math.min(6, session.length())) + "…/" + name;
  }
}

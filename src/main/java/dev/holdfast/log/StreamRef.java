package dev.holdfast.log;

import java.util.regex.Pattern;

/**
 * The name of one stream of one session.
 *
 * @param session the session's id; to the log an opaque key
 * @param name the stream's name, unique in its session
 */
public record StreamRef(String session, String name) {

  private static final Pattern SESSION = Pattern.compile("[A-Za-z0-9_-]{1,128}");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]{1,32}");

  /**
   * @throws IllegalArgumentException when a part has other characters or is too long: both become
   *     parts of store keys, and the name becomes part of event ids
   */
  public StreamRef {
    if (!SESSION.matcher(session).matches()) {
      throw new IllegalArgumentException("not a session key");
    }
    if (!isName(name)) {
      throw new IllegalArgumentException("not a stream name");
    }
  }

  /** Whether the text is a valid stream name. */
  public static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  /** Shortens the session id, which is a secret of the client. */
  @Override
  public String toString() {
    return session.substring(0, Math.min(6, session.length())) + "…/" + name;
  }
}

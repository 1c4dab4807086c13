package dev.holdfast.call;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;

/**
 * The id of a session: the value of {@code Mcp-Session-Id}. It has 256 random bits, so it cannot be
 * guessed. Its URL-safe Base64 alphabet is visible ASCII, as the specification requires
 * (2025-11-25, Transports, Session Management). A new id does not begin with a hyphen, since a
 * command line would take it for an option.
 *
 * @param value 43 characters
 */
public record SessionId(String value) {

  /** Number of characters of an id. */
  public static final int LENGTH = 43;

  private static final int BYTES = 32;

  /**
   * @throws IllegalArgumentException when the text does not have the form of an id
   */
  public SessionId {
    if (!hasForm(value)) {
      throw new IllegalArgumentException("not a session id");
    }
  }

  /** A new id. */
  public static SessionId random() {
    byte[] bytes = new byte[BYTES];
    // Created per call: a native image must not contain a seed from its build.
    SecureRandom random = new SecureRandom();
    String text;
    do {
      random.nextBytes(bytes);
      text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    } while (text.charAt(0) == '-');
    return new SessionId(text);
  }

  /** Reads an id from a client; empty when the text does not have the form of an id. */
  public static Optional<SessionId> parse(String text) {
    return hasForm(text) ? Optional.of(new SessionId(text)) : Optional.empty();
  }

  private static boolean hasForm(String text) {
    return text.length() == LENGTH && isBeginning(text);
  }

  /** Tells if the text can be a prefix of an id, or a whole id. */
  public static boolean isBeginning(String text) {
    boolean fits = text.length() <= LENGTH;
    for (int i = 0; fits && i < text.length(); i++) {
      fits = isInAlphabet(text.charAt(i));
    }
    return fits;
  }

  private static boolean isInAlphabet(int c) {
    return (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_';
  }

  /** Shows only the first characters, since the id is a secret of the client. */
  @Override
  public String toString() {
    return value.substring(0, 6) + "…";
  }
}

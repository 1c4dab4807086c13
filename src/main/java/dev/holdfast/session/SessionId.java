package dev.holdfast.session;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names a session: the value of {@code Mcp-Session-Id}. 256 random bits, so that it cannot be
 * guessed, in the URL-safe Base64 alphabet, which lies within the visible ASCII that the
 * specification asks for (2025-11-25, Transports, Session Management). A new one does not begin
 * with a hyphen: a command line would take it for an option.
 *
 * @param value 43 characters
 */
public record SessionId(String value) {

  /** How many characters an id has. */
  public static final int LENGTH = 43;

  private static final int BYTES = 32;
  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{" + LENGTH + "}");

  /**
   * @throws IllegalArgumentException when the text has not the form of what {@link #random()} makes
   */
  public SessionId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not a session id");
    }
  }

  /** A new id. */
  public static SessionId random() {
    byte[] bytes = new byte[BYTES];
    // Made here and not once for all: a native image must not carry a seed from its build.
    SecureRandom random = new SecureRandom();
    String text;
    do {
      random.nextBytes(bytes);
      text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    } while (text.charAt(0) == '-');
    return new SessionId(text);
  }

  /** Reads an id that a client sent; empty when it cannot be one of ours. */
  public static Optional<SessionId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new SessionId(text)) : Optional.empty();
  }

  /** Shows only the first characters: the whole id is a secret of its client. */
  @Override
  public String toString() {
    return value.substring(0, 6) + "…";
  }
}

package dev.holdfast.oauth;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The authorization server gave no token. The message has no secret. */
public final class TokenException extends RuntimeException {

  /** RFC 6749, sections 4.1.2.1 and 5.2; RFC 8693, section 2.2.2. */
  private static final Set<String> ABOUT_SUBJECT =
      Set.of("invalid_request", "invalid_grant", "access_denied");

  private final boolean refused;
  private final String error;

  TokenException(String message, @Nullable Throwable cause) {
    super(message, cause);
    refused = false;
    error = "";
  }

  TokenException(String message) {
    this(message, true, "");
  }

  /** An answer with an error code of RFC 6749; empty for none. */
  TokenException(String message, boolean refused, String error) {
    super(message);
    this.refused = refused;
    this.error = error;
  }

  /** Returns true if the same request would fail again, unlike while the server is away. */
  public boolean isRefused() {
    return refused;
  }

  /** Returns true if the server refused the token that was to be exchanged, and may take others. */
  public boolean isAboutSubject() {
    return refused && ABOUT_SUBJECT.contains(error);
  }
}

package dev.holdfast.oauth;

import org.jspecify.annotations.Nullable;

/** The authorization server gave no token. The message has no secret. */
public final class TokenException extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final boolean refused;

  TokenException(String message, @Nullable Throwable cause) {
    super(message, cause);
    refused = false;
  }

  /** A refusal. */
  TokenException(String message) {
    super(message);
    refused = true;
  }

  /** Whether the same request would fail again, unlike while the server is away. */
  public boolean isRefused() {
    return refused;
  }
}

package dev.holdfast.oauth;

import org.jspecify.annotations.Nullable;

/** The authorization server gave no token. The message has no secret. */
public final class TokenException extends RuntimeException {

  private static final long serialVersionUID = 1;

  TokenException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

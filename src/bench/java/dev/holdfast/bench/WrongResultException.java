package dev.holdfast.bench;

import org.jspecify.annotations.Nullable;

/** Something measured was lost, came twice or failed: its speed means nothing. */
final class WrongResultException extends RuntimeException {
  WrongResultException(String message) {
    super(message);
  }

  WrongResultException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/**
 * The store did not answer a write and may have executed it. The caller may repeat the write; the
 * store does not apply it twice.
 */
public final class OutcomeUnknownException extends LogException {
  /** Names the operation and the reason why there was no answer. */
  public OutcomeUnknownException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

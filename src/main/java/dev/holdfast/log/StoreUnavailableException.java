package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** The store did not carry out an operation. Nothing was written. */
public non-sealed class StoreUnavailableException extends LogException {
  /** Names the operation and the reason. */
  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** The store did not do what it was asked; nothing was written. */
public non-sealed class StoreUnavailableException extends LogException {
  /** Says what was asked, and why it failed. */
  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

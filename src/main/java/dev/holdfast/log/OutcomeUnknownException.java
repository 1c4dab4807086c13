package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/**
 * The store was asked to write and did not answer: it may or may not have written. The same write
 * may be made again; it will not be done twice.
 */
public final class OutcomeUnknownException extends LogException {
  /** Says what was asked, and why no answer came. */
  public OutcomeUnknownException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

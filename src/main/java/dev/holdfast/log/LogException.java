package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** A log operation failed. Each subclass states whether something was written. */
public abstract sealed class LogException extends RuntimeException
    permits FencedException,
        OutcomeUnknownException,
        SessionEndedException,
        StoreUnavailableException,
        TooManyStreamsException {
  LogException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

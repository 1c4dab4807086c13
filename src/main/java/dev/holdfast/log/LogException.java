package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** The log could not do something. The subclasses tell what was written. */
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

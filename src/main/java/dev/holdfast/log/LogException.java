package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** Something that the log could not do. The subclasses say what that left behind. */
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

package dev.holdfast.record;

import org.jspecify.annotations.Nullable;

/** A file is not a tape, or cannot be read. The message names the file and the line. */
public final class TapeException extends Exception {

  TapeException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}

package dev.holdfast.config;

/** The configuration file cannot be used. The message is a line that says what is to be done. */
public final class InvalidFileException extends RuntimeException {

  InvalidFileException(String message) {
    super(message);
  }
}

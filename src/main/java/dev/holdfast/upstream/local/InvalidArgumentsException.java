package dev.holdfast.upstream.local;

/**
 * A call has arguments that the tool does not accept. The model gets the message, and may correct
 * the arguments. The exception has no stack trace, because any client can cause it.
 */
public final class InvalidArgumentsException extends RuntimeException {
  /**
   * Describes the error.
   *
   * @param message for the model; names the argument and the problem
   */
  public InvalidArgumentsException(String message) {
    super(message, null, false, false);
  }
}

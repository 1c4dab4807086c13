package dev.holdfast.upstream.local;

/**
 * A tool was called with arguments that it does not take. The model is told, and may mend them. Has
 * no stack trace: any client can cause it at will.
 */
public final class InvalidArgumentsException extends RuntimeException {
  /**
   * Says which argument is wrong, and how.
   *
   * @param message a text for the model
   */
  public InvalidArgumentsException(String message) {
    super(message, null, false, false);
  }
}

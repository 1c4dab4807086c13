package dev.holdfast.upstream.local;

/** A request is not what its method takes: {@code -32602}. Has no stack trace, as it is cheap. */
final class InvalidParamsException extends RuntimeException {
  /**
   * @param message a text for the client
   */
  InvalidParamsException(String message) {
    super(message, null, false, false);
  }
}

package dev.holdfast.upstream.local;

/** A request is not what its method takes: {@code -32602}. Has no stack trace, as it is cheap. */
final class InvalidParamsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message a text for the client
   */
  InvalidParamsException(String message) {
    super(message, null, false, false);
  }
}

package dev.holdfast.bridge;

/** There is no session to speak in. The message is for the client. */
final class NoSessionException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  NoSessionException(String message) {
    super(message, null, false, false);
  }
}

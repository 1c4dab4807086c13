package dev.holdfast.bridge;

/** There is no session to speak in. The message is for the client. */
final class NoSessionException extends RuntimeException {
  NoSessionException(String message) {
    super(message, null, false, false);
  }
}

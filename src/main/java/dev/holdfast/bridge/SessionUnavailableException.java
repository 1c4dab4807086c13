package dev.holdfast.bridge;

/** There is no session to speak in. The message is for the client. */
final class SessionUnavailableException extends RuntimeException {
  SessionUnavailableException(String message) {
    super(message, null, false, false);
  }
}

package dev.holdfast.bridge;

/** No session is open and none can be opened. The message is meant for the client. */
final class SessionUnavailableException extends RuntimeException {
  SessionUnavailableException(String message) {
    super(message, null, false, false);
  }
}

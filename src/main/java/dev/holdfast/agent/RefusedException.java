package dev.holdfast.agent;

/** A tool call is refused. The client gets the message. */
final class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1;

  RefusedException(String message) {
    super(message, null, false, false);
  }
}

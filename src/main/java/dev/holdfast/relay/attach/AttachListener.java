package dev.holdfast.relay.attach;

/** Receives what happens to repeated calls, for metrics. Methods return at once. */
public interface AttachListener {

  /** Events of such calls. */
  enum Event {
    /** A call was joined to the first one. */
    ATTACHED,
    /** A call was executed, since a client follows the first one, or its result is not kept. */
    EXECUTED
  }

  /** Reports an event of a repeated call. */
  void repeated(Event event);
}

package dev.holdfast.held;

/** Receives what happens to calls that run for long, for metrics. Methods return at once. */
public interface HeldListener {

  /** Events of such calls. */
  enum Event {
    /** A call was answered with a handle. */
    HELD,
    /** A client waited for a result, and the call still runs. */
    WAITED,
    /** A client got the result of such a call. */
    COLLECTED,
    /** A client asked with a handle that is unknown, or for a result that is no longer kept. */
    NOT_FOUND
  }

  /** Something happened. */
  void held(Event event);
}

package dev.holdfast.era.north;

/**
 * Receives what happens to clients without a session, for metrics. Methods run on the thread that
 * did it and return at once.
 */
public interface EraListener {

  /** Outcomes of requests. */
  enum Request {
    /** A server with sessions gets it. */
    TRANSLATED,
    /** A server without sessions gets it. */
    PASSED,
    /** The gateway answers it with an error. */
    REFUSED,
    /** The request names an earlier revision in its header, and is served all the same. */
    EARLIER_HEADER
  }

  /** Outcomes of states that clients bring back. */
  enum State {
    /** The request goes on. */
    ACCEPTED,
    /** The request goes on, but its answers were given to the server before. */
    REPLAYED,
    /** The state is forged, has expired, or is of another request or caller. */
    REFUSED
  }

  /** Events of calls that run for long. */
  enum Task {
    /** The client got a task in place of the result. */
    MADE,
    /** The client has cancelled the task. */
    CANCELLED
  }

  /** A request came. */
  void request(Request kind);

  /** A client brought back a state. */
  void state(State kind);

  /** A call became a task, or a task was cancelled. */
  void task(Task kind);
}

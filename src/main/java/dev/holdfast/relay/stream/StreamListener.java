package dev.holdfast.relay.stream;

import java.time.Duration;

/** Receives how long the work on a stream takes, as {@link RelayListener} does. */
public interface StreamListener {

  /** The log took this many events in one append. */
  void appended(int events, Duration took);

  /**
   * The server of a stream waits for a client that reads slowly, or no longer.
   *
   * @param waits false at the end of the wait
   */
  void heldBack(boolean waits);

  /**
   * A client's socket took events that the client had not missed before.
   *
   * @param delay the time since the oldest of these events was written to the log. The clock of the
   *     store gives the time of the write, so the delay is as precise as the clocks agree
   */
  void deliveredLive(Duration delay);

  /** Events of results that miss their clients. */
  enum Result {
    /** A call got its result while no client followed it. */
    UNATTENDED,
    /** A client was sent a result that was in the log before the client came for it. */
    LATE
  }

  /** A result has missed its client. */
  void result(Result result);

  /**
   * A client that resumed a stream has received all events that it had missed.
   *
   * @param events the number of events that it had missed
   * @param took the time from its request until the socket had taken them
   */
  void replayed(int events, Duration took);
}

package dev.holdfast.faults.server;

/** What the server is told to do, by its name on a line of its standard input. */
public enum ServerFault {
  /** All is well again. */
  NONE,
  /** Resets all connections and refuses new ones. */
  REFUSED,
  /** Keeps its connections and says nothing on any. */
  STALLED,
  /** Resets each open stream in the middle of its next event, once. */
  TORN,
  /** Restarts: resets all connections and forgets all sessions. */
  FORGOTTEN,
  /** Sends events that are no JSON-RPC. */
  GARBAGE,
  /** Sends on each stream an event that never ends. */
  ENDLESS,
  /** Sends a notification of {@link #LARGE} bytes before each event. */
  OVERSIZED;

  /** More than the limit of the row. */
  public static final int LARGE = 80_000;
}

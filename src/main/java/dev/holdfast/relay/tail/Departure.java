package dev.holdfast.relay.tail;

/** Reason for which a {@link Tail} sends its client away. */
public enum Departure {
  /** The client moves to another replica, if it will resume there. */
  MOVE,
  /** The replica stops. The tail ends as soon as the client has what the log has. */
  STOP,
  /** The credentials of the client have expired. It comes back with others. */
  EXPIRED,
  /** The credentials of the client were revoked. It goes at once, and its calls go on. */
  REVOKED
}

package dev.holdfast.relay.session;

/**
 * The result of ending sessions.
 *
 * @param sessions the sessions that this replica ended; those that others ended do not count
 * @param upstreamsNotTold those of them whose upstream is not configured here
 */
public record SessionEndReport(long sessions, long upstreamsNotTold) {

  /** No session was ended. */
  public static final SessionEndReport NONE = new SessionEndReport(0, 0);

  /** The sum of two reports. */
  public SessionEndReport plus(SessionEndReport other) {
    return new SessionEndReport(
        sessions + other.sessions, upstreamsNotTold + other.upstreamsNotTold);
  }
}

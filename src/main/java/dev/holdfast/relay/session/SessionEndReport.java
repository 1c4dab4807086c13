package dev.holdfast.relay.session;

/**
 * What became of sessions that were to end.
 *
 * @param sessions how many this replica has ended: those that others ended before do not count
 * @param untold how many of those whose upstream did not hear of it, since it is not configured
 *     here
 */
public record SessionEndReport(long sessions, long untold) {

  /** Nothing was ended. */
  public static final SessionEndReport NONE = new SessionEndReport(0, 0);

  /** These and those. */
  public SessionEndReport plus(SessionEndReport others) {
    return new SessionEndReport(sessions + others.sessions, untold + others.untold);
  }
}

package dev.holdfast.relay;

/**
 * What became of sessions that were to end.
 *
 * @param sessions how many this replica has ended: those that others ended before do not count
 * @param untold how many of those whose upstream did not hear of it, since it is not configured
 *     here
 */
public record Ended(long sessions, long untold) {

  /** Nothing was ended. */
  public static final Ended NONE = new Ended(0, 0);

  /** These and those. */
  public Ended plus(Ended others) {
    return new Ended(sessions + others.sessions, untold + others.untold);
  }
}

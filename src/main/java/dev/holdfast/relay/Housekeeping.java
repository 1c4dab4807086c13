package dev.holdfast.relay;

import dev.holdfast.log.EventLog;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.tail.TailOpener;

/** Ends and removes what has expired. */
public record Housekeeping(Sessions sessions, EventLog log, TailOpener tails, Pumps pumps) {

  /** Notes which sessions are in use, as {@link Sessions#keep} says. */
  public void keep() {
    sessions.keep(tails.context().tails().keys());
  }

  /** Ends expired sessions and removes expired events. */
  public Sessions.EndReport sweep() {
    Sessions.EndReport report = sessions.endExpired();
    log.sweep();
    tails.sweep();
    pumps.sweep();
    return report;
  }
}

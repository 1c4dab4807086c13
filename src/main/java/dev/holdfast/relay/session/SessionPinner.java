package dev.holdfast.relay.session;

import dev.holdfast.log.StreamWriter;

/** Pins sessions to this replica, which has opened their server. */
@FunctionalInterface
public interface SessionPinner {

  /**
   * Pins a session. This replica serves it until its server is lost for good.
   *
   * @param standalone the writer of the session's standalone stream
   */
  void pin(StreamWriter standalone, PinnedServer server);
}

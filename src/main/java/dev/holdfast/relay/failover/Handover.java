package dev.holdfast.relay.failover;

import java.time.Duration;

/**
 * The way from a replica that drains to the others. A store of which there is one replica only has
 * none.
 */
public interface Handover {

  /** This replica takes over nothing more. To the others it is as alive as before. */
  void prepare();

  /**
   * Leaves what is still open here to the others.
   *
   * @return whether there is another; not when the store is away
   */
  boolean leave();

  /**
   * Stops the pumps whose streams another has taken over by now. Does nothing while the store is
   * away.
   */
  void stopTaken();

  /** How long the others may take for that. */
  Duration patience();
}

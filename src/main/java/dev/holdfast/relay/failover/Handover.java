package dev.holdfast.relay.failover;

import java.time.Duration;

/** Hands the streams of a draining replica over to the other replicas. */
public interface Handover {

  /** Stops taking over streams of others. This replica still counts as alive. */
  void prepare();

  /**
   * Tells the other replicas to take over what is still open here.
   *
   * @return whether there is another replica; false when the store is away
   */
  boolean leave();

  /** Stops the pumps whose streams another replica has taken over. Does nothing without a store. */
  void stopLostPumps();

  /** How long the other replicas may need to take over. */
  Duration takeOverTimeout();
}

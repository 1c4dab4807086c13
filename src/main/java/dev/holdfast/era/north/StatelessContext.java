package dev.holdfast.era.north;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.relay.Relay;
import dev.holdfast.seal.Seal;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Parts that all calls of clients without a session share.
 *
 * @param attaches whether a client can repeat a call that goes on
 */
record StatelessContext(
    Relay relay,
    Seal seal,
    StreamIndex streams,
    EraListener listener,
    EraConfig config,
    boolean attaches,
    InstantSource clock) {

  Instant expiry() {
    return clock.instant().plus(config.answerTimeout());
  }
}

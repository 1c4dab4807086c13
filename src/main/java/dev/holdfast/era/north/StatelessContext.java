package dev.holdfast.era.north;

import dev.holdfast.relay.Relay;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * What all calls of clients without a session share.
 *
 * @param life time for which a call waits for an answer of its client
 */
record StatelessContext(Relay relay, RetrySeal seal, Duration life, InstantSource clock) {

  Instant expiry() {
    return clock.instant().plus(life);
  }
}

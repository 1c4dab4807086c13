package dev.holdfast.bench;

import java.time.Duration;

/**
 * How much is measured.
 *
 * @param warmUps rounds that don't count, before those that do
 * @param callTime how long a round of calls lasts
 * @param liveEvents events of a session in a round at a steady rate
 * @param burstEvents events of a session in a round without a rate
 * @param replays streams that are read again in a round
 * @param idleStreams streams that are held open
 */
record Scale(
    int warmUps, Duration callTime, int liveEvents, int burstEvents, int replays, int idleStreams) {

  /** Enough for figures to be believed. */
  static final Scale FULL = new Scale(3, Duration.ofSeconds(5), 500, 4000, 100, 2000);

  /** Enough to see that everything works. */
  static final Scale QUICK = new Scale(1, Duration.ofMillis(500), 50, 200, 3, 100);
}

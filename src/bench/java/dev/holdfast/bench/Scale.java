package dev.holdfast.bench;

import java.time.Duration;

/**
 * How much is measured.
 *
 * @param warm how long each gateway works before the first round
 * @param callTime how long a round of calls lasts
 * @param liveEvents events of a session in a round at the lower of the two steady rates
 * @param burstEvents events of a session in a round without a rate
 * @param replays streams that are read again in a round
 * @param idleStreams streams that are held open
 */
record Scale(
    Duration warm,
    Duration callTime,
    int liveEvents,
    int burstEvents,
    int replays,
    int idleStreams) {

  /** Enough for figures to be believed. */
  static final Scale FULL =
      new Scale(Duration.ofSeconds(60), Duration.ofSeconds(5), 100, 4000, 100, 2000);

  /** Enough to see that everything works. */
  static final Scale QUICK =
      new Scale(Duration.ofSeconds(3), Duration.ofMillis(500), 10, 200, 3, 100);
}

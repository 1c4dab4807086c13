package dev.holdfast.faults;

import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.ToolRequest;
import java.time.Duration;

/**
 * What clients do: each has a session, listens to its standalone stream, and calls a tool that
 * counts, again and again.
 *
 * @param sessions how many clients
 * @param steps how far a call counts
 * @param interval milliseconds from one step to the next
 * @param span for how long new calls are begun
 * @param dead after so long without any byte, a client takes its connection for dead
 * @param hung after so long without a message, a client gives up
 */
record Load(int sessions, int steps, int interval, Duration span, Duration dead, Duration hung) {

  /** Before the schedule begins: replicas that have run for a while. */
  private static final Duration WARM_UP = LongRun.REQUESTED ? Duration.ofSeconds(8) : Duration.ZERO;

  private static final Duration NEVER = Duration.ofDays(1);
  private static final Duration HUNG = Duration.ofSeconds(15);
  private static final Duration SUSPICION = Duration.ofMillis(2500);

  /** Calls of two or four seconds: 60 sessions × 100 events/s, in the short run 12 × 20. */
  static Load usual() {
    return LongRun.REQUESTED
        ? new Load(60, 400, 10, Duration.ofSeconds(60), NEVER, HUNG)
        : new Load(12, 40, 50, Duration.ofSeconds(7), NEVER, HUNG);
  }

  /** Calls of five seconds, or four, which outlast a replica that does not wait for them. */
  static Load lasting() {
    return LongRun.REQUESTED ? usual() : new Load(12, 100, 50, Duration.ofSeconds(7), NEVER, HUNG);
  }

  /** The usual for longer, since there is so much to happen. */
  static Load longer() {
    return LongRun.REQUESTED ? usual() : new Load(12, 40, 50, Duration.ofSeconds(16), NEVER, HUNG);
  }

  /** Calls that are silent most of the time, so that nothing but a wake-up brings their events. */
  static Load sparse() {
    return LongRun.REQUESTED
        ? new Load(60, 4, 400, Duration.ofSeconds(60), NEVER, HUNG)
        : new Load(24, 4, 400, Duration.ofSeconds(7), NEVER, HUNG);
  }

  /**
   * Calls of two or four seconds by clients that outwait a partition, since many have no way around
   * it.
   */
  static Load partitioned() {
    return LongRun.REQUESTED
        ? new Load(30, 80, 50, Duration.ofMinutes(6), SUSPICION, Duration.ofMinutes(4))
        : new Load(12, 40, 50, Duration.ofSeconds(10), SUSPICION, Duration.ofMinutes(1));
  }

  /** Few events, since libfaketime makes each look at the clock expensive. */
  static Load withClocks() {
    return new Load(12, 80, 50, Duration.ofSeconds(60), SUSPICION, Duration.ofMinutes(1));
  }

  /** The same by clients who don't trust a connection on which nothing comes. */
  Load suspicious() {
    return new Load(sessions, steps, interval, span, SUSPICION, hung);
  }

  /** How long clients work before anything happens to them. */
  Duration warmUp() {
    return WARM_UP;
  }

  /**
   * The request for one call.
   *
   * @param client names who calls
   */
  String call(String client, int id) {
    return call(client, id, steps);
  }

  /** The request for one that tells whether all is well. */
  String shortCall(String client, int id) {
    return call(client, id, 4);
  }

  private String call(String client, int id, int count) {
    return ToolRequest.of(
        id,
        "count",
        "{\"n\":%d,\"intervalMs\":%d,\"payload\":100,\"key\":\"%s-%d\"}"
            .formatted(count, interval, client, id));
  }

  @Override
  public String toString() {
    return "%d × %d/s, %d s".formatted(sessions, 1000 / interval, span.toSeconds());
  }
}

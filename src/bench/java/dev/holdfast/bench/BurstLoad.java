package dev.holdfast.bench;

import java.net.URI;
import java.util.List;

/**
 * Sessions that each call the tool {@code burst} once, all at the same time.
 *
 * @param sessions how many
 * @param events how many notifications each gets
 * @param intervalUs microseconds from one to the next; 0 for as fast as they come
 */
record BurstLoad(int sessions, int events, int intervalUs) {

  /** Bytes of filling in each event. */
  static final int SIZE = 200;

  /**
   * What came out.
   *
   * @param perSecond how many events came per second, all sessions together
   * @param latencies from the writing of each event at the server to its arrival
   */
  record Outcome(double perSecond, Samples latencies) {}

  /** The arguments that ask for such a burst. */
  static String arguments(int events, int intervalUs) {
    return arguments(events, intervalUs, SIZE);
  }

  /** The arguments that ask for events with so many bytes of filling. */
  static String arguments(int events, int intervalUs, int size) {
    return "{\"count\":%d,\"intervalUs\":%d,\"size\":%d}".formatted(events, intervalUs, size);
  }

  /** Runs it. The meter measures it without the opening of the sessions. */
  Outcome run(URI url, CostMeter meter) {
    try (ConcurrentSessions crowd = ConcurrentSessions.open(url, sessions)) {
      meter.start();
      long begin = System.nanoTime();
      List<BurstCheck> checks =
          crowd.together(session -> {
            BurstCheck check = new BurstCheck(events);
            session.call("burst", arguments(events, intervalUs), check);
            check.requireComplete();
            return check;
          });
      double seconds = (System.nanoTime() - begin) / 1e9;
      meter.stop();
      Samples latencies = new Samples();
      checks.forEach(check -> latencies.addAll(check.latencies()));
      return new Outcome(latencies.size() / seconds, latencies);
    }
  }
}

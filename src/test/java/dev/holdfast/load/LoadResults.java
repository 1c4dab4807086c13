package dev.holdfast.load;

import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Times and errors of all calls of a load run. Thread-safe. */
final class LoadResults {

  /** Duration of each successful call, in microseconds. */
  private final Queue<Integer> times = new ConcurrentLinkedQueue<>();

  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final AtomicLong sessions = new AtomicLong();

  void session() {
    sessions.incrementAndGet();
  }

  void whole(Duration time) {
    times.add(Math.toIntExact(time.toNanos() / 1000));
  }

  void error(String what) {
    errors.add(what);
  }

  long calls() {
    return times.size() + (long) errors.size();
  }

  Queue<String> errors() {
    return errors;
  }

  double errorRate() {
    return (double) errors.size() / calls();
  }

  /** Duration that {@code percent} of the calls did not exceed. */
  Duration percentile(int percent) {
    int[] sorted = times.stream().mapToInt(Integer::intValue).toArray();
    Arrays.sort(sorted);
    return Duration.ofNanos(sorted[(int) ((sorted.length - 1L) * percent / 100)] * 1000L);
  }

  @Override
  public String toString() {
    return "sessions=%d calls=%d errors=%d p50=%dms p95=%dms p99=%dms max=%dms"
        .formatted(
            sessions.get(),
            calls(),
            errors.size(),
            percentile(50).toMillis(),
            percentile(95).toMillis(),
            percentile(99).toMillis(),
            percentile(100).toMillis());
  }
}

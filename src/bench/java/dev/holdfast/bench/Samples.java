package dev.holdfast.bench;

import java.util.Arrays;

/** Times, of which quantiles are wanted. Not thread-safe. */
final class Samples {

  private static final double NANOS_PER_MILLI = 1e6;

  private long[] nanos = new long[1024];
  private int size;

  void add(long duration) {
    if (size == nanos.length) {
      nanos = Arrays.copyOf(nanos, size * 2);
    }
    nanos[size++] = duration;
  }

  void addAll(Samples others) {
    int together = size + others.size;
    if (together > nanos.length) {
      nanos = Arrays.copyOf(nanos, together);
    }
    System.arraycopy(others.nanos, 0, nanos, size, others.size);
    size = together;
  }

  int size() {
    return size;
  }

  /**
   * Gives the time that so many percent of the samples don't exceed.
   *
   * @return milliseconds
   */
  double percentile(int percent) {
    long[] sorted = Arrays.copyOf(nanos, size);
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(size * percent / 100.0);
    return sorted[Math.max(0, rank - 1)] / NANOS_PER_MILLI;
  }
}

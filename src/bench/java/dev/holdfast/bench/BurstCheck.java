package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Reads a {@link Burst}: takes the times, and sees that all of it comes, once and in order. */
final class BurstCheck implements Sink {

  private static final JsonNumber PROGRESS = new JsonNumber("progress");
  private static final JsonNumber SENT = new JsonNumber("sent");
  private static final int MENTIONED = 300;

  private final int count;
  private final Samples latencies = new Samples();
  private int came;
  private boolean complete;
  private long completeAt;

  /**
   * @param count how many notifications must come before the result
   */
  BurstCheck(int count) {
    this.count = count;
  }

  @Override
  public void take(byte[] array, int offset, int length) {
    long now = System.nanoTime();
    long number = PROGRESS.in(array, offset, length);
    if (number == came + 1 && !complete) {
      came++;
      latencies.add(now - SENT.in(array, offset, length));
    } else if (number == JsonNumber.ABSENT && came == count && !complete) {
      complete = true;
      completeAt = now;
    } else {
      throw new WrongResultException(
          "after %d of %d events came %s"
              .formatted(
                  came, count, new String(array, offset, Math.min(length, MENTIONED), UTF_8)));
    }
  }

  /** Fails if the result has not come. */
  void requireComplete() {
    if (!complete) {
      throw new WrongResultException(
          "the stream ended after %d of %d events, without a result".formatted(came, count));
    }
  }

  /** From the writing of each notification to its arrival here. */
  Samples latencies() {
    return latencies;
  }

  /** When the result came, by {@link System#nanoTime()}. */
  long completeAt() {
    return completeAt;
  }
}

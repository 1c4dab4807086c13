package dev.holdfast.http;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the connections that follow a stream. Thread-safe. */
final class ConnectionLimit {

  private final int most;
  private final AtomicInteger taken = new AtomicInteger();

  ConnectionLimit(int most) {
    this.most = most;
  }

  /**
   * Takes a place.
   *
   * @throws TooManyConnections when there is none
   */
  Slot take() {
    if (taken.incrementAndGet() > most) {
      taken.decrementAndGet();
      throw new TooManyConnections();
    }
    return new Slot();
  }

  /** A place that is taken. */
  final class Slot {

    private final AtomicBoolean given = new AtomicBoolean();

    /** Gives the place back. Further calls do nothing. */
    void giveBack() {
      if (given.compareAndSet(false, true)) {
        taken.decrementAndGet();
      }
    }
  }

  /** There are as many connections as there may be. */
  static final class TooManyConnections extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooManyConnections() {
      super("too many connections", null, false, false);
    }
  }
}

package dev.holdfast.architecture.planted.frozen;

import java.util.function.LongSupplier;

/** Holds static values: one of the machine, one by way of a constructor, and one that is fine. */
public final class Frozen {

  static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  static final Clock STARTED = new Clock();
  static final LongSupplier FINE = () -> System.currentTimeMillis();

  private Frozen() {}

  /** A value that knows when it was created. */
  public static final class Clock {
    final long created = System.nanoTime();
  }
}

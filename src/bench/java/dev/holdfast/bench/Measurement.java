package dev.holdfast.bench;

import java.util.Arrays;
import java.util.Locale;

/** What can be measured. */
enum Measurement {
  /** Calls answered with JSON, as many as go. */
  CALLS,
  /** The delay of events that come at a steady rate. */
  LIVE,
  /** Events, as many as go. */
  BURST,
  /** Streams read again from their start. */
  REPLAY,
  /** What an idle stream costs in memory. */
  IDLE;

  /**
   * Finds one by its name in lower case.
   *
   * @throws IllegalArgumentException if there is none
   */
  static Measurement named(String name) {
    return Arrays.stream(values())
        .filter(measurement -> measurement.toString().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("--only cannot be " + name));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

package dev.holdfast.bench;

import java.util.Locale;

/**
 * A figure that is measured, round by round.
 *
 * @param title its name in the tables
 */
record Metric(String title, Unit unit) {

  static final Metric CALLS = new Metric("calls/s", Unit.COUNT);
  static final Metric CALL_P50 = new Metric("call, p50", Unit.MILLIS);
  static final Metric CALL_P99 = new Metric("call, p99", Unit.MILLIS);
  static final Metric LIVE_P50 = new Metric("live latency at 1,000/s, p50", Unit.MILLIS);
  static final Metric LIVE_P99 = new Metric("live latency at 1,000/s, p99", Unit.MILLIS);
  static final Metric BUSY_RATE = new Metric("live events/s, aim 5,000", Unit.COUNT);
  static final Metric BUSY_P50 = new Metric("live latency at 5,000/s, p50", Unit.MILLIS);
  static final Metric BUSY_P99 = new Metric("live latency at 5,000/s, p99", Unit.MILLIS);
  static final Metric BURST = new Metric("burst events/s", Unit.COUNT);
  static final Metric REPLAY_100 = new Metric("replay of 100, p50", Unit.MILLIS);
  static final Metric REPLAY_1000 = new Metric("replay of 1,000, p50", Unit.MILLIS);
  static final Metric IDLE_LOCAL = new Metric("idle stream, local upstream, RSS", Unit.KILOBYTES);
  static final Metric IDLE_LOCAL_HEAP =
      new Metric("idle stream, local upstream, live heap", Unit.KILOBYTES);
  static final Metric IDLE_HTTP = new Metric("idle stream, HTTP upstream, RSS", Unit.KILOBYTES);
  static final Metric IDLE_HTTP_HEAP =
      new Metric("idle stream, HTTP upstream, live heap", Unit.KILOBYTES);

  /** How a figure is written. */
  enum Unit {
    /** A number, as it is. */
    COUNT("%,.0f", ""),
    /** A small number. */
    FRACTION("%.1f", ""),
    /** Microseconds. */
    MICROS("%.1f", " µs"),
    /** Milliseconds. */
    MILLIS("%.2f", " ms"),
    /** 1,000 bytes. */
    KILOBYTES("%.1f", " kB");

    private final String format;
    private final String suffix;

    Unit(String format, String suffix) {
      this.format = format;
      this.suffix = suffix;
    }

    /** The number alone. */
    String number(double value) {
      return String.format(Locale.ROOT, format, value);
    }

    /** What is written behind it. */
    String suffix() {
      return suffix;
    }
  }
}

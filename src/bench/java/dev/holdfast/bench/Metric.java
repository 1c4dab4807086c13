package dev.holdfast.bench;

import java.util.Locale;

/** A figure that is measured, round by round. */
enum Metric {
  CALLS("calls/s", Unit.COUNT),
  CALL_P50("call, p50", Unit.MILLIS),
  CALL_P99("call, p99", Unit.MILLIS),
  LIVE_RATE("live events/s", Unit.COUNT),
  LIVE_P50("live latency, p50", Unit.MILLIS),
  LIVE_P99("live latency, p99", Unit.MILLIS),
  BURST("burst events/s", Unit.COUNT),
  REPLAY_100_FIRST("replay of 100, first event, p50", Unit.MILLIS),
  REPLAY_100("replay of 100, all, p50", Unit.MILLIS),
  REPLAY_100_P99("replay of 100, all, p99", Unit.MILLIS),
  REPLAY_1000_FIRST("replay of 1,000, first event, p50", Unit.MILLIS),
  REPLAY_1000("replay of 1,000, all, p50", Unit.MILLIS),
  REPLAY_1000_P99("replay of 1,000, all, p99", Unit.MILLIS),
  IDLE_LOCAL("idle stream, local upstream, RSS", Unit.KILOBYTES),
  IDLE_LOCAL_HEAP("idle stream, local upstream, live heap", Unit.KILOBYTES),
  IDLE_HTTP("idle stream, HTTP upstream, RSS", Unit.KILOBYTES),
  IDLE_HTTP_HEAP("idle stream, HTTP upstream, live heap", Unit.KILOBYTES);

  private final String title;
  private final Unit unit;

  Metric(String title, Unit unit) {
    this.title = title;
    this.unit = unit;
  }

  String title() {
    return title;
  }

  Unit unit() {
    return unit;
  }

  /** How a figure is written. */
  enum Unit {
    /** A number, as it is. */
    COUNT("%,.0f", ""),
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

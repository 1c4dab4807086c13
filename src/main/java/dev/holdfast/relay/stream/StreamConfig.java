package dev.holdfast.relay.stream;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** How streams are kept, and how connections that follow them are held. */
@ConfigMapping(prefix = "holdfast.stream")
public interface StreamConfig {

  /** How long an event is kept. One second to thirty days. */
  @WithDefault("1h")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration eventTtl();

  /**
   * How long the events of a stream are kept once it is complete and was delivered to its end. One
   * second to thirty days.
   */
  @WithDefault("2m")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration completedTtl();

  /** The most events that a stream keeps; the oldest are purged. 100 to 10 million. */
  @WithDefault("10000")
  @Min(100)
  @Max(10_000_000)
  int maxEvents();

  /** The {@code retry} that clients are sent: how long they wait before they reconnect. */
  @WithDefault("5s")
  @DurationMin(millis = 10)
  @DurationMax(minutes = 10)
  Duration retry();

  /** The {@code retry} that clients are sent when this replica stops and others serve them. */
  @WithDefault("500ms")
  @DurationMin(millis = 10)
  @DurationMax(minutes = 10)
  Duration drainRetry();

  /**
   * How long running calls may go on here when this replica is to stop; what still runs then is
   * handed over. Some seconds less than whoever stops it waits before it kills. Up to one day;
   * {@code 0s} hands over at once.
   */
  @WithDefault("20s")
  @DurationMin
  @DurationMax(days = 1)
  Duration drainTimeout();

  /** How long a connection may be silent before a comment is sent on it. */
  @WithDefault("30s")
  @DurationMin(millis = 100)
  @DurationMax(minutes = 10)
  Duration keepAlive();

  /**
   * A connection on which no event was sent for so long is closed after a {@code retry}. The stream
   * lives on.
   */
  @WithDefault("5m")
  @DurationMin(millis = 100)
  @DurationMax(days = 1)
  Duration idleTimeout();

  /** The longest life of one connection; it is closed after a {@code retry}. */
  @WithDefault("1h")
  @DurationMin(millis = 100)
  @DurationMax(days = 1)
  Duration maxLifetime();

  /**
   * A connection whose client takes nothing of what is written to it for so long is cut off; the
   * stream lives on.
   */
  @WithDefault("1m")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration writeTimeout();

  /** Which requests get a durable stream even when the upstream would answer them at once. */
  @WithDefault("calls")
  Durable durable();

  /** Which requests are durable. */
  enum Durable {
    /** Tool calls, and whatever the upstream itself answers with a stream. */
    CALLS,
    /** Every request but {@code initialize}. */
    ALL
  }
}

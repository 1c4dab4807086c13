package dev.holdfast.relay.stream;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** How long the log keeps streams, and how long connections that follow them live. */
@ConfigMapping(prefix = "holdfast.stream")
public interface StreamConfig {

  /** How long an event is kept. One second to thirty days. */
  @WithDefault("1h")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration eventTtl();

  /**
   * How long the events of a stream are kept after it is complete and delivered. One second to
   * thirty days.
   */
  @WithDefault("2m")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration completedTtl();

  /** Events kept per stream; the oldest are purged. 100 to 10 million. */
  @WithDefault("10000")
  @Min(100)
  @Max(10_000_000)
  int maxEvents();

  /** The {@code retry} field sent to clients: how long they wait before they reconnect. */
  @WithDefault("5s")
  @DurationMin(millis = 10)
  @DurationMax(minutes = 10)
  Duration retry();

  /** The {@code retry} field sent to clients when this replica drains and others serve them. */
  @WithDefault("500ms")
  @DurationMin(millis = 10)
  @DurationMax(minutes = 10)
  Duration drainRetry();

  /**
   * How long a draining replica lets its calls run before other replicas take them over. Set it a
   * few seconds below the time after which the orchestrator kills the process. Up to one day;
   * {@code 0s} hands over at once.
   */
  @WithDefault("20s")
  @DurationMin
  @DurationMax(days = 1)
  Duration drainTimeout();

  /** How long a connection may be silent before the gateway sends a comment. */
  @WithDefault("30s")
  @DurationMin(millis = 100)
  @DurationMax(minutes = 10)
  Duration keepAlive();

  /**
   * How long a connection may carry no event. Then the gateway sends {@code retry} and closes it;
   * the stream continues.
   */
  @WithDefault("5m")
  @DurationMin(millis = 100)
  @DurationMax(days = 1)
  Duration idleTimeout();

  /** How long one connection may live. Then the gateway sends {@code retry} and closes it. */
  @WithDefault("1h")
  @DurationMin(millis = 100)
  @DurationMax(days = 1)
  Duration maxLifetime();

  /**
   * How long a client may take nothing of what is written to it. Then the gateway resets the
   * connection; the stream continues.
   */
  @WithDefault("1m")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration writeTimeout();

  /** Which requests get a durable stream even if the upstream answers them with plain JSON. */
  @WithDefault("calls")
  Durable durable();

  /** Which requests are durable. */
  enum Durable {
    /** Tool calls, and requests that the upstream answers with a stream. */
    CALLS,
    /** Every request but {@code initialize}. */
    ALL
  }
}

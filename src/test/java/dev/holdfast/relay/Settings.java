package dev.holdfast.relay;

import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import java.time.Duration;

/** Configuration as tests want it: slow clocks everywhere, unless a test turns one on. */
public final class Settings {

  private static final Duration NEVER = Duration.ofHours(1);

  private Settings() {}

  /** How streams are kept and followed. */
  public record Streams(
      Duration eventTtl,
      Duration completedTtl,
      int maxEvents,
      Duration retry,
      Duration drainRetry,
      Duration drainTimeout,
      Duration keepAlive,
      Duration idleTimeout,
      Duration maxLifetime,
      Duration writeTimeout,
      Durable durable)
      implements StreamConfig {

    public Streams drainTimeout(Duration value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          value,
          keepAlive,
          idleTimeout,
          maxLifetime,
          writeTimeout,
          durable);
    }

    public Streams keepAlive(Duration value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          drainTimeout,
          value,
          idleTimeout,
          maxLifetime,
          writeTimeout,
          durable);
    }

    public Streams idleTimeout(Duration value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          drainTimeout,
          keepAlive,
          value,
          maxLifetime,
          writeTimeout,
          durable);
    }

    public Streams maxLifetime(Duration value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          drainTimeout,
          keepAlive,
          idleTimeout,
          value,
          writeTimeout,
          durable);
    }

    public Streams writeTimeout(Duration value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          drainTimeout,
          keepAlive,
          idleTimeout,
          maxLifetime,
          value,
          durable);
    }

    Streams durable(Durable value) {
      return new Streams(
          eventTtl,
          completedTtl,
          maxEvents,
          retry,
          drainRetry,
          drainTimeout,
          keepAlive,
          idleTimeout,
          maxLifetime,
          writeTimeout,
          value);
    }
  }

  /** What a client that comes back is given. */
  public record Replay(boolean enabled, Duration window, OnGap onGap) implements ReplayConfig {}

  public static Streams streams() {
    return new Streams(
        Duration.ofHours(1),
        Duration.ofMinutes(2),
        100_000,
        Duration.ofSeconds(5),
        Duration.ofMillis(500),
        NEVER,
        NEVER,
        NEVER,
        NEVER,
        NEVER,
        StreamConfig.Durable.CALLS);
  }

  public static Replay replay() {
    return new Replay(true, Duration.ofHours(24), ReplayConfig.OnGap.ERROR);
  }

  static Replay continuing() {
    return new Replay(true, Duration.ofHours(24), ReplayConfig.OnGap.CONTINUE);
  }
}

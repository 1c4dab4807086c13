package dev.holdfast.relay.stream;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Lifetimes of streams in the log, and of connections that follow them. */
@ConfigMapping(prefix = "holdfast.stream")
public interface StreamConfig {

  /** Time for which an event is kept. One second to thirty days. */
  @WithDefault("1h")
  @Range(min = "1s", max = "30d")
  Duration eventTtl();

  /**
   * Time for which the events of a stream are kept after it is complete and delivered. One second
   * to thirty days.
   */
  @WithDefault("2m")
  @Range(min = "1s", max = "30d")
  Duration completedTtl();

  /** Events kept per stream; the oldest are purged. 100 to 10 million. */
  @WithDefault("10000")
  @Range(min = "100", max = "10000000")
  int maxEvents();

  /**
   * The {@code retry} field sent to clients: how long they wait before they reconnect. At the
   * beginning of a response it is up to a quarter longer, at random.
   */
  @WithDefault("5s")
  @Range(min = "10ms", max = "10m")
  Duration retry();

  /** The {@code retry} field sent to clients when this replica drains and others serve them. */
  @WithDefault("500ms")
  @Range(min = "10ms", max = "10m")
  Duration drainRetry();

  /**
   * Time for which a draining replica lets its calls run before other replicas take them over. Set
   * it a few seconds below the time after which the orchestrator kills the process. Up to one day;
   * {@code 0s} hands over at once.
   */
  @WithDefault("20s")
  @Range(min = "0s", max = "1d")
  Duration drainTimeout();

  /** Time for which a connection may be silent before the gateway sends a comment. */
  @WithDefault("30s")
  @Range(min = "100ms", max = "10m")
  Duration keepAlive();

  /**
   * Time for which a connection may carry no event while its client awaits no response. Then the
   * gateway sends {@code retry} and closes it; the stream continues. {@code 0s} is no limit: some
   * clients never open their standalone stream again.
   */
  @WithDefault("0s")
  @Range(min = "0s", max = "1d")
  Duration idleTimeout();

  /**
   * The most that one connection may live. Then the gateway sends {@code retry} and closes it. The
   * connection of a running request stays if its client is not known to resume.
   */
  @WithDefault("1h")
  @Range(min = "100ms", max = "1d")
  Duration maxLifetime();

  /**
   * Time for which a client may take nothing of what is written to it. Then the gateway resets the
   * connection; the stream continues.
   */
  @WithDefault("1m")
  @Range(min = "100ms", max = "1h")
  Duration writeTimeout();

  /** Requests that get a durable stream even if the upstream answers them with plain JSON. */
  @WithDefault("calls")
  Durable durable();

  /** Requests that are durable. */
  enum Durable {
    /** Tool calls, and requests that the upstream answers with a stream. */
    CALLS,
    /** Every request but {@code initialize}. */
    ALL
  }
}

package dev.holdfast.http.limit;

import dev.holdfast.config.Range;
import dev.holdfast.config.SizeConverter;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.util.Optional;
import java.util.OptionalInt;

/** Limits on connections, requests, sessions, streams and messages. */
@ConfigMapping(prefix = "holdfast.limits")
public interface LimitsConfig {

  /**
   * Maximum number of connections on this replica that follow a stream, or wait for a response that
   * may be one. More are refused with 429. Idle connections do not count: {@code
   * quarkus.http.idle-timeout} closes them, and {@code quarkus.http.limits.max-connections} limits
   * all.
   */
  @WithDefault("10000")
  @Range(min = "1", max = "1000000")
  int connections();

  /**
   * Maximum number of these connections per client, on all replicas that share a Redis; more are
   * refused with 429. A client is a principal or, without keys and tokens, an address. An IPv6
   * client is its /64 network. The address is that of the socket, unless {@code
   * quarkus.http.proxy.*} trusts a proxy to name it.
   */
  @WithDefault("1000")
  @Range(min = "1", max = "1000000")
  int connectionsPerAddress();

  /**
   * Maximum number of requests in progress on this replica; more are refused with 503. A request is
   * in progress until the head of its response is sent.
   */
  @WithDefault("10000")
  @Range(min = "1", max = "1000000")
  int requests();

  /**
   * Maximum number of these requests per client, on all replicas that share a Redis; more are
   * refused with 429. Clients are those of {@link #connectionsPerAddress}. A request counts for its
   * address until its principal is known.
   */
  @WithDefault("1000")
  @Range(min = "1", max = "1000000")
  int requestsPerAddress();

  /**
   * Maximum number of requests per second of one client, on all replicas that share a Redis; more
   * are refused with 429. A client that was silent for a second may send as many at once. Clients
   * are those of {@link #connectionsPerAddress}. Without it, there is no limit.
   */
  @Range(min = "1", max = "1000000")
  OptionalInt requestsPerSecond();

  /**
   * Maximum number of bytes of request bodies that this replica holds at once; more are refused
   * with 503. One client may hold a quarter. Default: a tenth of the heap. At least two messages of
   * the maximum size fit in any case.
   */
  Optional<@WithConverter(SizeConverter.class) MemorySize> requestBytes();

  /** Maximum number of sessions on all replicas; more are refused with 429. */
  @WithDefault("10000")
  @Range(min = "1", max = "10000000")
  int sessions();

  /**
   * Maximum number of sessions per client, on all replicas; more are refused with 429. Clients are
   * those of {@link #connectionsPerAddress}.
   */
  @WithDefault("1000")
  @Range(min = "1", max = "10000000")
  int sessionsPerAddress();

  /** Maximum number of open streams per session; more are refused with 429. */
  @WithDefault("64")
  @Range(min = "2", max = "10000")
  int streamsPerSession();

  /**
   * Maximum size of a message from a client in bytes; 1K to 256M. A larger one is refused with 413.
   * A unit is allowed: {@code 512K}, {@code 4M}.
   */
  @WithDefault("4M")
  @WithConverter(MessageBytes.FromText.class)
  MessageBytes messageBytes();

  /**
   * Maximum size of a message from a server in bytes; 1K to 256M. In place of a larger response,
   * the client gets an error.
   */
  @WithDefault("32M")
  @WithConverter(MessageBytes.FromText.class)
  MessageBytes serverMessageBytes();

  /** Maximum number of messages in a batch from a client. A larger batch is refused with 400. */
  @WithDefault("100")
  @Range(min = "1", max = "1000")
  int batchMessages();
}

package dev.holdfast.http;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/** How much there may be of everything. */
@ConfigMapping(prefix = "holdfast.limits")
public interface LimitsConfig {

  /**
   * The most connections of this replica that follow a stream, or wait for an answer that may be
   * one; more are refused with 429. Idle ones do not count: {@code quarkus.http.idle-timeout}
   * closes them, and {@code quarkus.http.limits.max-connections} bounds all.
   */
  @WithDefault("10000")
  @Min(1)
  @Max(1_000_000)
  int connections();

  /**
   * The most of these connections for one client address, an IPv6 client being its /64 network;
   * more are refused with 429. The address is that of the socket, unless {@code
   * quarkus.http.proxy.*} trusts a proxy to name it.
   */
  @WithDefault("1000")
  @Min(1)
  @Max(1_000_000)
  int connectionsPerAddress();

  /**
   * The most requests that this replica works on at once, until the head of the answer is sent;
   * more are refused with 503.
   */
  @WithDefault("10000")
  @Min(1)
  @Max(1_000_000)
  int requests();

  /** The most sessions on all replicas; more are refused with 429. */
  @WithDefault("10000")
  @Min(1)
  @Max(10_000_000)
  int sessions();

  /** The most open streams of one session; more are refused with 429. */
  @WithDefault("64")
  @Min(2)
  @Max(10_000)
  int streamsPerSession();

  /**
   * The largest message in bytes, either way; a larger one from a client is refused with 413. With
   * a unit: {@code 512K}, {@code 4M}. 1 kB to 256 MB.
   */
  @WithDefault("4M")
  @WithConverter(MessageBytes.FromText.class)
  MessageBytes messageBytes();
}

package dev.holdfast.session;

import java.util.Map;
import java.util.OptionalInt;

/**
 * How many sessions there may be at a time, on all replicas.
 *
 * @param all the most of all
 * @param byUpstream the most of one upstream, where that is limited by itself
 */
public record SessionLimits(int all, Map<String, Integer> byUpstream) {

  /** Copies the map. */
  public SessionLimits {
    byUpstream = Map.copyOf(byUpstream);
  }

  /** The most of one upstream; empty where that is not limited by itself. */
  public OptionalInt of(String upstream) {
    Integer most = byUpstream.get(upstream);
    return most == null ? OptionalInt.empty() : OptionalInt.of(most);
  }
}

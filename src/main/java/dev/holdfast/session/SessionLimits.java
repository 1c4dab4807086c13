package dev.holdfast.session;

import java.util.Map;
import java.util.OptionalInt;

/**
 * Limits of the number of sessions at a time, on all replicas together.
 *
 * @param all most sessions of all upstreams
 * @param byUpstream most sessions of an upstream with a limit of its own
 */
public record SessionLimits(int all, Map<String, Integer> byUpstream) {

  /** Copies the map. */
  public SessionLimits {
    byUpstream = Map.copyOf(byUpstream);
  }

  /** Most sessions of an upstream; empty when it has no limit of its own. */
  public OptionalInt of(String upstream) {
    Integer most = byUpstream.get(upstream);
    return most == null ? OptionalInt.empty() : OptionalInt.of(most);
  }
}

package dev.holdfast.session;

import java.util.Map;
import java.util.OptionalInt;

/**
 * Limits on the number of concurrent sessions of all replicas together.
 *
 * @param all maximum number of sessions of all upstreams
 * @param perOpener maximum number of sessions of each {@link Session#opener}
 * @param byUpstream maximum number of sessions of each upstream with a limit of its own
 */
public record SessionLimits(int all, int perOpener, Map<String, Integer> byUpstream) {

  /** Copies the map. */
  public SessionLimits {
    byUpstream = Map.copyOf(byUpstream);
  }

  /** Maximum number of sessions of an upstream; empty when it has no limit of its own. */
  public OptionalInt of(String upstream) {
    Integer most = byUpstream.get(upstream);
    return most == null ? OptionalInt.empty() : OptionalInt.of(most);
  }
}

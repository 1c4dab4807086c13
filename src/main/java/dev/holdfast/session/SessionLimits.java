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

  /**
   * Returns true if three quarters of the places for sessions are taken. A new session must then be
   * used sooner, so that sessions that nobody uses do not keep clients out for long.
   *
   * @param taken places taken before the new session
   * @param most all places
   */
  public static boolean isCrowded(long taken, int most) {
    return 4 * taken >= 3L * most;
  }

  /** Maximum number of sessions of an upstream; empty when it has no limit of its own. */
  public OptionalInt of(String upstream) {
    Integer most = byUpstream.get(upstream);
    return most == null ? OptionalInt.empty() : OptionalInt.of(most);
  }
}

package dev.holdfast.upstream;

import java.util.Map;
import java.util.Optional;

/**
 * The upstreams that clients can reach.
 *
 * @param byName the configured servers; may change while the gateway runs
 * @param merged several servers under one name, which hides a server of that name
 */
public record Upstreams(Map<String, Upstream> byName, Map<String, Upstream> merged) {

  /** Nothing but servers. */
  public Upstreams(Map<String, Upstream> byName) {
    this(byName, Map.of());
  }

  /** The upstream of a name; empty if there is none. */
  public Optional<Upstream> find(String name) {
    return Optional.ofNullable(merged.get(name)).or(() -> Optional.ofNullable(byName.get(name)));
  }
}

package dev.holdfast.upstream;

import java.util.Map;
import java.util.Optional;

/**
 * The configured upstreams.
 *
 * @param byName may change while the gateway runs
 */
public record Upstreams(Map<String, Upstream> byName) {

  /** The upstream of a name; empty if there is none. */
  public Optional<Upstream> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }
}

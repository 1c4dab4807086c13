package dev.holdfast.upstream;

import java.util.Map;
import java.util.Optional;

/**
 * The configured upstreams.
 *
 * @param byName may change while the gateway runs
 */
public record Upstreams(Map<String, Upstream> byName) {

  /** The profile of an upstream; empty if none has the name. */
  public Optional<Profile> profile(String name) {
    return Optional.ofNullable(byName.get(name)).map(Upstream::profile);
  }
}

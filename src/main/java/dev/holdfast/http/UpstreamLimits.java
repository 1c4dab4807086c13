package dev.holdfast.http;

import java.util.Map;

/**
 * What one upstream may take of what there is for all. Whoever puts the program together gives it.
 *
 * @param requests by name of the upstream, the most requests that are worked on at once
 */
public record UpstreamLimits(Map<String, Integer> requests) {

  /** Copies the map. */
  public UpstreamLimits {
    requests = Map.copyOf(requests);
  }
}

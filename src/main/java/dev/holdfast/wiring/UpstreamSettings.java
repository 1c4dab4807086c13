package dev.holdfast.wiring;

import dev.holdfast.session.Session;
import io.smallrye.config.NameIterator;
import io.smallrye.config.SmallRyeConfig;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of an upstream. Two are equal if all their keys have the same values.
 *
 * @param values the values of all keys that are set, which may be secrets, by key
 */
record UpstreamSettings(GatewayConfig.Server server, Map<String, String> values) {

  /** Copies the map. */
  UpstreamSettings {
    values = Map.copyOf(values);
  }

  /** Reads the configuration of all upstreams, by name. */
  static Map<String, UpstreamSettings> of(SmallRyeConfig config) {
    Map<String, Map<String, String>> values = new HashMap<>();
    for (String key : config.getPropertyNames()) {
      String upstream = upstream(key);
      String value = upstream == null ? null : config.getConfigValue(key).getValue();
      if (upstream != null && value != null) {
        values.computeIfAbsent(upstream, _ -> new HashMap<>()).put(key, value);
      }
    }
    Map<String, UpstreamSettings> all = new HashMap<>();
    config
        .getConfigMapping(GatewayConfig.class)
        .allUpstreams()
        .forEach((name, server) ->
            all.put(name, new UpstreamSettings(server, values.getOrDefault(name, Map.of()))));
    return all;
  }

  /** Returns the name of the upstream that has a key; null for other keys. */
  static @Nullable String upstream(String key) {
    NameIterator segments = new NameIterator(key);
    if (!next(segments).equals("holdfast")) {
      return null;
    }
    return switch (next(segments)) {
      case "upstream" -> Session.DEFAULT_UPSTREAM;
      case "upstreams" -> segments.hasNext() ? next(segments) : null;
      default -> null;
    };
  }

  private static String next(NameIterator key) {
    if (!key.hasNext()) {
      return "";
    }
    String segment = key.getNextSegment();
    key.next();
    return segment;
  }

  /** Whether it has a server, unlike the tools of this process. */
  boolean hasServer() {
    return server.url().isPresent() || server.command().isPresent();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof UpstreamSettings settings && values.equals(settings.values);
  }

  @Override
  public int hashCode() {
    return Objects.hashCode(values);
  }

  /** Leaves out the values. */
  @Override
  public String toString() {
    return "UpstreamSettings" + values.keySet();
  }
}

package dev.holdfast.http;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may speak to the gateway, by the {@code Origin} and {@code Host} of a request (MCP
 * 2025-11-25, Transports, Security Warning: servers must validate Origin against DNS rebinding).
 */
@Singleton
final class Origins {

  private static final String ANY = "*";
  private static final String LOCALHOST = "localhost";
  private static final Set<String> LOOPBACK = Set.of(LOCALHOST, "127.0.0.1", "[::1]");

  private final Set<String> origins;
  private final Set<String> hosts;

  @Inject
  Origins(HttpConfig config) {
    this(config.allowedOrigins(), config.allowedHosts());
  }

  Origins(List<String> origins, List<String> hosts) {
    this.origins = lowered(origins);
    this.hosts = lowered(hosts);
  }

  /** Whether a page of this origin may speak to the gateway. No origin: no page, so it may. */
  boolean allowsOrigin(@Nullable String origin) {
    if (origin == null || allowsAnyOrigin()) {
      return true;
    }
    String lowered = origin.toLowerCase(Locale.ROOT);
    String host = hostOfOrigin(lowered);
    return origins.contains(lowered) || (host != null && matches(origins, host));
  }

  /** Whether any page may speak to the gateway. */
  boolean allowsAnyOrigin() {
    return origins.contains(ANY);
  }

  /**
   * With whom an answer is shared, in the words of {@code Access-Control-Allow-Origin}: the page's
   * own origin or, where any is allowed, {@code *}. Empty for whom it is not meant.
   */
  Optional<String> sharedWith(@Nullable String origin) {
    if (origin == null || !allowsOrigin(origin)) {
      return Optional.empty();
    }
    return Optional.of(allowsAnyOrigin() ? ANY : origin);
  }

  /** Whether the gateway may be reached under this name. */
  boolean allowsHost(@Nullable String hostAndPort) {
    if (hosts.contains(ANY)) {
      return true;
    }
    return hostAndPort != null && matches(hosts, withoutPort(hostAndPort.toLowerCase(Locale.ROOT)));
  }

  private static boolean matches(Set<String> allowed, String host) {
    return allowed.contains(host) || (allowed.contains(LOCALHOST) && LOOPBACK.contains(host));
  }

  /**
   * The host of {@code scheme://host[:port]}, or null for {@code null} and other opaque origins.
   */
  private static @Nullable String hostOfOrigin(String origin) {
    try {
      return URI.create(origin).getHost();
    } catch (IllegalArgumentException notAnOrigin) {
      return null;
    }
  }

  private static String withoutPort(String hostAndPort) {
    int colon = hostAndPort.lastIndexOf(':');
    return colon > hostAndPort.lastIndexOf(']') ? hostAndPort.substring(0, colon) : hostAndPort;
  }

  private static Set<String> lowered(List<String> names) {
    return names.stream()
        .map(name -> name.strip().toLowerCase(Locale.ROOT))
        .collect(Collectors.toUnmodifiableSet());
  }
}

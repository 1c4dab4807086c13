package dev.holdfast.http.origin;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides by {@code Origin} and {@code Host} which requests are allowed (MCP 2025-11-25,
 * Transports, Security Warning: servers must validate Origin against DNS rebinding).
 */
@Singleton
public final class OriginPolicy {

  /** The headers that upstreams get from clients, which pages of allowed origins may send, too. */
  @FunctionalInterface
  public interface PageHeaders {

    /** Their names at this time, in order. */
    Set<String> names();
  }

  private static final String ANY = "*";
  private static final String LOCALHOST = "localhost";
  private static final Set<String> LOOPBACK = Set.of(LOCALHOST, "127.0.0.1", "[::1]");

  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]+(?:\\.[0-9]+){3}|\\[[0-9a-fA-F:.]+\\]");

  /** A colon after another one is part of an IPv6 address. */
  private static final Pattern PORT = Pattern.compile("(?<=[^:]):[0-9]{0,5}\\z");

  private final Set<String> origins;
  private final Set<String> hosts;

  @Inject
  OriginPolicy(HttpConfig config) {
    this(config.allowedOrigins(), config.allowedHosts());
  }

  /** Creates a policy of entries in lower case. */
  OriginPolicy(List<String> origins, List<String> hosts) {
    this.origins = Set.copyOf(origins);
    this.hosts = Set.copyOf(hosts);
  }

  /** Returns whether pages of this origin are allowed. Without an origin there is no page. */
  public boolean allowsOrigin(@Nullable String origin) {
    if (origin == null || allowsAnyOrigin()) {
      return true;
    }
    String lowerCase = origin.toLowerCase(Locale.ROOT);
    String host = hostOfOrigin(lowerCase);
    return origins.contains(lowerCase) || (host != null && matches(origins, host));
  }

  boolean allowsAnyOrigin() {
    return origins.contains(ANY);
  }

  /**
   * Returns the value of {@code Access-Control-Allow-Origin} for a page: its own origin or, where
   * any is allowed, {@code *}. Empty when the page must not read the response.
   */
  Optional<String> allowOriginHeader(@Nullable String origin) {
    if (origin == null || !allowsOrigin(origin)) {
      return Optional.empty();
    }
    return Optional.of(allowsAnyOrigin() ? ANY : origin);
  }

  /** Returns whether clients may reach the gateway under this host name. */
  boolean allowsHost(@Nullable String hostAndPort) {
    if (hosts.contains(ANY)) {
      return true;
    }
    return hostAndPort != null && matches(hosts, withoutPort(hostAndPort.toLowerCase(Locale.ROOT)));
  }

  /**
   * Returns whether probes may reach the gateway under this host name. They use its address, which
   * no page can have as its own host name.
   */
  public boolean allowsProbe(@Nullable String hostAndPort) {
    return hostAndPort == null
        || allowsHost(hostAndPort)
        || ADDRESS.matcher(withoutPort(hostAndPort)).matches();
  }

  private static boolean matches(Set<String> allowed, String host) {
    return allowed.contains(host) || (allowed.contains(LOCALHOST) && LOOPBACK.contains(host));
  }

  /** Returns the host of {@code scheme://host[:port]}; null for any other text. */
  private static @Nullable String hostOfOrigin(String origin) {
    try {
      URI url = URI.create(origin);
      boolean exact = origin.equals(url.getScheme() + "://" + url.getRawAuthority());
      return exact && url.getRawUserInfo() == null ? url.getHost() : null;
    } catch (IllegalArgumentException notAnOrigin) {
      return null;
    }
  }

  private static String withoutPort(String hostAndPort) {
    return PORT.matcher(hostAndPort).replaceFirst("");
  }
}

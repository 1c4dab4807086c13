package dev.holdfast.http;

import dev.holdfast.protocol.JsonRpcErrorCode;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests from origins and under host names that are not allowed, before all else. {@code
 * /health} may be asked for under any name, as {@code /q/health} may: probes come by IP address.
 */
@Singleton
final class OriginFilter {

  /** Before all others. */
  static final int PRIORITY = 0;

  private static final String HEALTH = "/health";
  private static final String PASSED = OriginFilter.class.getName();

  private final Provider<Origins> origins;

  /** Filters are made before the configuration can be read, hence the provider. */
  OriginFilter(Provider<Origins> origins) {
    this.origins = origins;
  }

  @ServerRequestFilter(preMatching = true, priority = PRIORITY)
  Optional<Response> refuse(ContainerRequestContext request) {
    Origins allowed = origins.get();
    if (!isHealth(request) && !allowed.allowsHost(host(request))) {
      return Optional.of(forbidden("Host not allowed; see holdfast.http.allowed-hosts"));
    }
    if (!allowed.allowsOrigin(request.getHeaderString("Origin"))) {
      return Optional.of(forbidden("Origin not allowed; see holdfast.http.allowed-origins"));
    }
    request.setProperty(PASSED, true);
    return Optional.empty();
  }

  /** Whether a request was not refused here. */
  static boolean hasPassed(ContainerRequestContext request) {
    return request.getProperty(PASSED) != null;
  }

  private static boolean isHealth(ContainerRequestContext request) {
    return request.getUriInfo().getPath().equals(HEALTH);
  }

  /** In HTTP/2 it is a pseudo-header, and part of the URI instead of the headers. */
  private static @Nullable String host(ContainerRequestContext request) {
    String header = request.getHeaderString(HttpHeaders.HOST);
    return header == null ? request.getUriInfo().getRequestUri().getAuthority() : header;
  }

  private static Response forbidden(String message) {
    return ErrorResponses.of(403, null, JsonRpcErrorCode.SERVER_ERROR, message);
  }
}

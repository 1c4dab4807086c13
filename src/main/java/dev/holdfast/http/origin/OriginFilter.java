package dev.holdfast.http.origin;

import dev.holdfast.http.error.ErrorResponses;
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
 * Refuses requests whose origin or host name is not allowed. {@code /health} is allowed under any
 * host name, as {@code /q/health} is, since probes use the IP address.
 */
@Singleton
final class OriginFilter {

  /** The first of all filters. */
  static final int PRIORITY = 0;

  private static final String HEALTH = "/health";
  private static final String PASSED = OriginFilter.class.getName();

  private final Provider<OriginPolicy> policy;

  /** Quarkus creates filters before it reads the configuration, hence the provider. */
  OriginFilter(Provider<OriginPolicy> policy) {
    this.policy = policy;
  }

  @ServerRequestFilter(preMatching = true, priority = PRIORITY)
  Optional<Response> refuse(ContainerRequestContext request) {
    OriginPolicy allowed = policy.get();
    if (!isHealth(request) && !allowed.allowsHost(host(request))) {
      return Optional.of(forbidden("Host not allowed; see holdfast.http.allowed-hosts"));
    }
    if (!allowed.allowsOrigin(request.getHeaderString("Origin"))) {
      return Optional.of(forbidden("Origin not allowed; see holdfast.http.allowed-origins"));
    }
    request.setProperty(PASSED, true);
    return Optional.empty();
  }

  /** Returns whether this filter let a request pass. */
  static boolean hasPassed(ContainerRequestContext request) {
    return request.getProperty(PASSED) != null;
  }

  private static boolean isHealth(ContainerRequestContext request) {
    return request.getUriInfo().getPath().equals(HEALTH);
  }

  /** HTTP/2 has a pseudo-header instead, which becomes part of the URI. */
  private static @Nullable String host(ContainerRequestContext request) {
    String header = request.getHeaderString(HttpHeaders.HOST);
    return header == null ? request.getUriInfo().getRequestUri().getAuthority() : header;
  }

  private static Response forbidden(String message) {
    return ErrorResponses.of(403, null, JsonRpcErrorCode.SERVER_ERROR, message);
  }
}

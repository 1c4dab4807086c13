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

/** Refuses requests from origins and under host names that are not allowed, before all else. */
@Singleton
final class OriginFilter {

  private final Provider<Origins> origins;

  /** Filters are made before the configuration can be read, hence the provider. */
  OriginFilter(Provider<Origins> origins) {
    this.origins = origins;
  }

  @ServerRequestFilter(preMatching = true)
  Optional<Response> refuse(ContainerRequestContext request) {
    Origins allowed = origins.get();
    if (!allowed.allowsHost(host(request))) {
      return Optional.of(forbidden("Host not allowed; see holdfast.http.allowed-hosts"));
    }
    if (!allowed.allowsOrigin(request.getHeaderString("Origin"))) {
      return Optional.of(forbidden("Origin not allowed; see holdfast.http.allowed-origins"));
    }
    return Optional.empty();
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

package dev.holdfast.http;

import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/**
 * Lets the pages of allowed origins read what they ask for (WHATWG Fetch, CORS protocol). {@code
 * holdfast.http.allowed-origins} decides, as it does for {@link OriginFilter}: one list, so that
 * what is refused is never shared. Quarkus has a filter of its own, with a list of its own and
 * refusals that are not JSON-RPC; it stays off.
 *
 * <p>Credentials of the browser (cookies) are never allowed: MCP authorizes by a header that a page
 * sets itself (2025-11-25, Authorization).
 */
@Singleton
final class CorsFilter {

  /** After {@link OriginFilter}, and before whoever wants credentials: a preflight has none. */
  static final int PRIORITY = OriginFilter.PRIORITY + 1;

  private static final String METHODS = "GET, POST, DELETE";
  private static final String REQUEST_HEADERS =
      String.join(
          ", ",
          HttpHeaders.CONTENT_TYPE,
          HttpHeaders.ACCEPT,
          HttpHeaders.AUTHORIZATION,
          McpHeaders.SESSION_ID,
          McpHeaders.PROTOCOL_VERSION,
          McpHeaders.LAST_EVENT_ID);
  private static final String RESPONSE_HEADERS =
      String.join(
          ", ",
          McpHeaders.SESSION_ID,
          McpHeaders.PROTOCOL_VERSION,
          HttpHeaders.RETRY_AFTER,
          HttpHeaders.WWW_AUTHENTICATE);

  /** Chrome remembers a preflight no longer than that. */
  private static final Duration MAX_AGE = Duration.ofHours(2);

  private final Provider<Origins> origins;

  /** Filters are made before the configuration can be read, hence the provider. */
  CorsFilter(Provider<Origins> origins) {
    this.origins = origins;
  }

  /** Answers the question whether a page may ask; {@link OriginFilter} has checked its origin. */
  @ServerRequestFilter(preMatching = true, priority = PRIORITY)
  Optional<Response> preflight(ContainerRequestContext request) {
    if (!request.getMethod().equals(HttpMethod.OPTIONS)
        || request.getHeaderString("Origin") == null
        || request.getHeaderString("Access-Control-Request-Method") == null) {
      return Optional.empty();
    }
    return Optional.of(
        Response.noContent()
            .header("Access-Control-Allow-Methods", METHODS)
            .header("Access-Control-Allow-Headers", REQUEST_HEADERS)
            .header("Access-Control-Max-Age", MAX_AGE.toSeconds())
            .build());
  }

  /** On every answer, streams and errors too: without it a page sees nothing, not even why. */
  @ServerResponseFilter
  void share(ContainerRequestContext request, ContainerResponseContext response) {
    MultivaluedMap<String, Object> headers = response.getHeaders();
    Origins allowed = origins.get();
    if (!allowed.allowsAnyOrigin()) {
      // Also without an Origin: a cache must not give a page what was answered to somebody else.
      headers.add(HttpHeaders.VARY, "Origin");
    }
    if (OriginFilter.hasPassed(request)) {
      allowed
          .sharedWith(request.getHeaderString("Origin"))
          .ifPresent(origin -> {
            headers.putSingle("Access-Control-Allow-Origin", origin);
            headers.putSingle("Access-Control-Expose-Headers", RESPONSE_HEADERS);
          });
    }
  }
}

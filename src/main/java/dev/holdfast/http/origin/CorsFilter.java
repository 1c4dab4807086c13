package dev.holdfast.http.origin;

import dev.holdfast.protocol.McpHeaders;
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
 * Lets the pages of allowed origins read responses (WHATWG Fetch, CORS protocol). It uses the same
 * list as {@link OriginFilter}. The CORS filter of Quarkus stays off: it has a list of its own, and
 * refuses without a JSON-RPC body.
 *
 * <p>Cookies are never allowed: MCP authorizes by a header that the page sets itself (2025-11-25,
 * Authorization).
 */
@Singleton
final class CorsFilter {

  /** After {@link OriginFilter}, and before authentication: a preflight has no credentials. */
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

  /** The longest time for which Chrome caches a preflight. */
  private static final Duration MAX_AGE = Duration.ofHours(2);

  private final Provider<OriginPolicy> policy;

  /** Quarkus creates filters before it reads the configuration, hence the provider. */
  CorsFilter(Provider<OriginPolicy> policy) {
    this.policy = policy;
  }

  /** Answers preflights; {@link OriginFilter} has checked the origin. */
  @ServerRequestFilter(preMatching = true, priority = PRIORITY)
  Optional<Response> answerPreflight(ContainerRequestContext request) {
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

  /** Adds CORS headers to all responses, including errors: a page cannot read others. */
  @ServerResponseFilter
  void addHeaders(ContainerRequestContext request, ContainerResponseContext response) {
    MultivaluedMap<String, Object> headers = response.getHeaders();
    OriginPolicy allowed = policy.get();
    if (!allowed.allowsAnyOrigin()) {
      // Also without an Origin, since a cache must not give that response to a page.
      headers.add(HttpHeaders.VARY, "Origin");
    }
    if (OriginFilter.hasPassed(request)) {
      allowed
          .allowOriginHeader(request.getHeaderString("Origin"))
          .ifPresent(origin -> {
            headers.putSingle("Access-Control-Allow-Origin", origin);
            headers.putSingle("Access-Control-Expose-Headers", RESPONSE_HEADERS);
          });
    }
  }
}

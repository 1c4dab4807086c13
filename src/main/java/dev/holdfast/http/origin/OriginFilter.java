package dev.holdfast.http.origin;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.StreamHeaders;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests whose origin or host name is not allowed, and lets the pages of allowed origins
 * read responses (WHATWG Fetch, CORS protocol).
 *
 * <p>The CORS filter of Quarkus stays off: it has a list of its own, and refuses without a JSON-RPC
 * body. Cookies are never allowed: MCP authorizes by a header that the page sets itself
 * (2025-11-25, Authorization).
 */
@ApplicationScoped
class OriginFilter {

  /** Before all other filters. Authentication comes later, since preflights have no credentials. */
  private static final int PRIORITY = 0;

  private static final String PASSED = OriginFilter.class.getName();
  private static final String ORIGIN = "Origin";

  private static final String METHODS = "GET, POST, DELETE";
  private static final String REQUEST_HEADERS =
      String.join(
          ", ",
          HttpHeaders.CONTENT_TYPE,
          HttpHeaders.ACCEPT,
          HttpHeaders.AUTHORIZATION,
          McpHeaders.SESSION_ID,
          McpHeaders.PROTOCOL_VERSION,
          McpHeaders.METHOD,
          McpHeaders.NAME,
          McpHeaders.LAST_EVENT_ID,
          HttpHeaders.CACHE_CONTROL,
          HttpHeaders.IF_NONE_MATCH,
          "traceparent",
          "tracestate");
  private static final String RESPONSE_HEADERS =
      String.join(
          ", ",
          McpHeaders.SESSION_ID,
          McpHeaders.PROTOCOL_VERSION,
          HttpHeaders.RETRY_AFTER,
          HttpHeaders.WWW_AUTHENTICATE,
          HttpHeaders.ETAG,
          StreamHeaders.CALL,
          StreamHeaders.NEXT_OFFSET,
          StreamHeaders.UP_TO_DATE,
          StreamHeaders.CLOSED,
          StreamHeaders.CURSOR);

  /** The most headers of a preflight that are looked at. */
  private static final int MAX_WANTED = 50;

  /** The longest time for which Chrome caches a preflight. */
  private static final Duration MAX_AGE = Duration.ofHours(2);

  private final OriginPolicy policy;
  private final OriginPolicy.PageHeaders forwarded;

  /** Called with the first request: Quarkus creates singletons before it has a configuration. */
  OriginFilter(OriginPolicy policy, OriginPolicy.PageHeaders forwarded) {
    this.policy = policy;
    this.forwarded = forwarded;
  }

  /**
   * Answers a preflight, or lets a request pass.
   *
   * @throws RequestRejectedException if its host or its origin is not allowed
   */
  @ServerRequestFilter(preMatching = true, priority = PRIORITY)
  @Nullable Response check(ContainerRequestContext request) {
    String host = host(request);
    if (!(isHealth(request) ? policy.allowsProbe(host) : policy.allowsHost(host))) {
      throw new RequestRejectedException(403, "Host not allowed; see holdfast.http.allowed-hosts");
    }
    if (!policy.allowsOrigin(request.getHeaderString(ORIGIN))) {
      throw new RequestRejectedException(
          403, "Origin not allowed; see holdfast.http.allowed-origins");
    }
    request.setProperty(PASSED, true);
    return isPreflight(request) ? preflight(request) : null;
  }

  /** Probes use the address, like those of {@code /q/health}. */
  private static boolean isHealth(ContainerRequestContext request) {
    return request.getUriInfo().getPath().equals("/health");
  }

  /** HTTP/2 has a pseudo-header instead, which becomes part of the URI. */
  private static @Nullable String host(ContainerRequestContext request) {
    String header = request.getHeaderString(HttpHeaders.HOST);
    return header == null ? request.getUriInfo().getRequestUri().getAuthority() : header;
  }

  private static boolean isPreflight(ContainerRequestContext request) {
    return request.getMethod().equals(HttpMethod.OPTIONS)
        && request.getHeaderString(ORIGIN) != null
        && request.getHeaderString("Access-Control-Request-Method") != null;
  }

  private Response preflight(ContainerRequestContext request) {
    Set<String> more = new LinkedHashSet<>(forwarded.names());
    more.addAll(parameters(request.getHeaderString("Access-Control-Request-Headers")));
    String allowed =
        more.isEmpty() ? REQUEST_HEADERS : REQUEST_HEADERS + ", " + String.join(", ", more);
    return Response.noContent()
        .header("Access-Control-Allow-Methods", METHODS)
        .header("Access-Control-Allow-Headers", allowed)
        .header("Access-Control-Max-Age", MAX_AGE.toSeconds())
        .build();
  }

  /** Headers that repeat arguments of tools; a page may send any. */
  private static List<String> parameters(@Nullable String wanted) {
    return Stream.of(wanted == null ? new String[0] : wanted.split(",", MAX_WANTED))
        .map(name -> name.strip().toLowerCase(Locale.ROOT))
        .filter(name -> name.matches(McpHeaders.PARAMETER + "[a-z0-9_-]{1,100}"))
        .toList();
  }

  /** Adds CORS headers to all responses, including errors: a page cannot read others. */
  @ServerResponseFilter
  void addHeaders(ContainerRequestContext request, ContainerResponseContext response) {
    MultivaluedMap<String, Object> headers = response.getHeaders();
    if (!policy.allowsAnyOrigin()) {
      // Also without an Origin, since a cache must not give that response to a page.
      headers.add(HttpHeaders.VARY, ORIGIN);
    }
    if (request.getProperty(PASSED) != null) {
      policy
          .allowOriginHeader(request.getHeaderString(ORIGIN))
          .ifPresent(origin -> {
            headers.putSingle("Access-Control-Allow-Origin", origin);
            headers.putSingle("Access-Control-Expose-Headers", RESPONSE_HEADERS);
          });
    }
  }
}

package dev.holdfast.http;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.Principal;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.protocol.JsonRpcErrorCode;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Finds out who sends a request: after the check of its origin, and before anything of its body is
 * read. Every path needs a key, whether a resource has it or not, so no way to write a path leads
 * around this. Resources that know their principal check again.
 */
@Singleton
final class Authentication {

  private static final String HEALTH = "/health";
  private static final String PRINCIPAL = Authentication.class.getName();
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;

  /** RFC 6750, section 2.1. The name of a scheme has no case (RFC 9110, section 11.1). */
  private static final Pattern BEARER = Pattern.compile("(?i:bearer) +([\\w.~+/-]+=*)");

  private static final String CHALLENGE = "Bearer realm=\"holdfast\"";

  private final Provider<AccessKeys> keys;
  private final Provider<RequiredScopes> scopes;
  private final ContainerRequestContext current;

  /** Quarkus creates filters before it reads the configuration, hence the providers. */
  Authentication(
      Provider<AccessKeys> keys, Provider<RequiredScopes> scopes, ContainerRequestContext current) {
    this.keys = keys;
    this.scopes = scopes;
    this.current = current;
  }

  /** Refuses a request without a key that the configuration knows. */
  @ServerRequestFilter(preMatching = true, priority = Priorities.AUTHENTICATION)
  Optional<Response> check(ContainerRequestContext request) {
    AccessKeys known = keys.get();
    if (!known.areRequired() || request.getUriInfo().getPath().equals(HEALTH)) {
      return Optional.empty();
    }
    String header = request.getHeaderString(HttpHeaders.AUTHORIZATION);
    if (header == null) {
      return Optional.of(
          refusal(UNAUTHORIZED, "A key is required: Authorization: Bearer <key>", ""));
    }
    Optional<Principal> owner = bearer(header).flatMap(known::owner);
    if (owner.isEmpty()) {
      return Optional.of(
          refusal(UNAUTHORIZED, "The key is not valid", ", error=\"invalid_token\""));
    }
    request.setProperty(PRINCIPAL, owner.get());
    return Optional.empty();
  }

  private static Optional<AccessKey> bearer(String header) {
    Matcher bearer = BEARER.matcher(header);
    return bearer.matches() ? Optional.of(new AccessKey(bearer.group(1))) : Optional.empty();
  }

  private static Response refusal(int status, String message, String error) {
    Response refusal = ErrorResponses.of(status, null, JsonRpcErrorCode.SERVER_ERROR, message);
    return Response.fromResponse(refusal)
        .header(HttpHeaders.WWW_AUTHENTICATE, CHALLENGE + error)
        .build();
  }

  /** Returns a response if the current request needs a scope for the upstream that it lacks. */
  Optional<Response> refusal(String upstream) {
    return scopes
        .get()
        .missing(upstream, principal())
        .map(scope ->
            refusal(
                FORBIDDEN,
                "The key lacks the scope " + scope,
                ", error=\"insufficient_scope\", scope=\"" + scope + "\""));
  }

  /**
   * Returns who sends the current request; {@link Principal#ANONYMOUS} if the gateway does not ask.
   */
  Principal principal() {
    if (!keys.get().areRequired()) {
      return Principal.ANONYMOUS;
    }
    if (current.getProperty(PRINCIPAL) instanceof Principal principal) {
      return principal;
    }
    throw new RequestRejectedException(UNAUTHORIZED, "A key is required");
  }
}

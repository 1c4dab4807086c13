package dev.holdfast.http;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.auth.AccessKey;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.ProtectedResources;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.auth.TokenRefusedException;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientToken;
import dev.holdfast.call.Endpoint;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.socket.ClientAddress;
import dev.holdfast.http.stream.Credentials;
import dev.holdfast.protocol.JsonRpcErrorCode;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who sends a request: after the check of its origin, and before anything of its body is
 * read. Every path needs a key or a token, whether a resource has it or not, so no way to write a
 * path leads around this. A token is for an upstream, and is checked when that is known.
 */
@ApplicationScoped
class Authentication {

  private static final Logger LOG = Logger.getLogger(Authentication.class);
  private static final LogRate UNCHECKED_TOKENS = new LogRate(Duration.ofSeconds(10));

  private static final String HEALTH = "/health";
  private static final String CALLER = Authentication.class.getName();
  private static final String TOKEN = CALLER + ".token";
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int UNAVAILABLE = 503;

  /** RFC 6750, section 2.1. The name of a scheme has no case (RFC 9110, section 11.1). */
  private static final Pattern BEARER = Pattern.compile("(?i:bearer) +([\\w.~+/-]+=*)");

  private static final String INVALID = ", error=\"invalid_token\"";

  private final AccessKeys keys;
  private final AccessTokens tokens;
  private final ProtectedResources resources;
  private final RequiredScopes scopes;
  private final ContainerRequestContext current;
  private final AuditLog audit;
  private final ClientAddress address;
  private final Duration interval;

  /** Called with the first request: Quarkus creates singletons before it has a configuration. */
  Authentication(
      AccessKeys keys,
      AccessTokens tokens,
      ProtectedResources resources,
      RequiredScopes scopes,
      ContainerRequestContext current,
      AuditLog audit,
      ClientAddress address,
      AuthConfig config) {
    this.interval = config.recheckInterval();
    this.keys = keys;
    this.tokens = tokens;
    this.resources = resources;
    this.scopes = scopes;
    this.current = current;
    this.audit = audit;
    this.address = address;
  }

  private boolean isRequired() {
    return keys.areRequired() || tokens.areAccepted();
  }

  /**
   * Checks that a request has a key that the configuration knows, or a token.
   *
   * @throws RequestRejectedException if it has neither
   */
  @ServerRequestFilter(preMatching = true, priority = Priorities.AUTHENTICATION)
  void check(ContainerRequestContext request) {
    if (!isRequired() || isOpen(request.getUriInfo().getPath())) {
      return;
    }
    String header = request.getHeaderString(HttpHeaders.AUTHORIZATION);
    if (header == null) {
      throw unauthorized(
          tokens.areAccepted()
              ? "An access token is required: Authorization: Bearer <token>"
              : "A key is required: Authorization: Bearer <key>",
          "");
    }
    Optional<AccessKey> key = bearer(header);
    Optional<Caller> owner = key.flatMap(keys::owner);
    if (owner.isPresent()) {
      request.setProperty(CALLER, owner.get());
    } else if (key.isPresent() && tokens.areAccepted()) {
      request.setProperty(TOKEN, key.get().value());
    } else {
      throw unauthorized("The key is not valid", INVALID);
    }
  }

  private boolean isOpen(String path) {
    return path.equals(HEALTH) || (tokens.areAccepted() && ProtectedResources.isMetadata(path));
  }

  private static Optional<AccessKey> bearer(String header) {
    Matcher bearer = BEARER.matcher(header);
    return bearer.matches() ? Optional.of(new AccessKey(bearer.group(1))) : Optional.empty();
  }

  private String client() {
    return Client.at(address.current()).name();
  }

  private Endpoint endpoint() {
    return Endpoint.of(current.getUriInfo().getPath());
  }

  /** With the scope that the client should ask for (2025-11-25, Authorization). */
  private RequestRejectedException unauthorized(String message, String error) {
    audit.credentialRefused(
        client(), error.isEmpty() ? "there is no credential" : "the credential is not valid");
    String scope =
        scopes
            .byUpstream()
            .apply(endpoint().upstream())
            .filter(_ -> tokens.areAccepted())
            .map(required -> ", scope=\"" + required + "\"")
            .orElse("");
    return refusal(UNAUTHORIZED, message, error + scope);
  }

  private RequestRejectedException refusal(int status, String message, String parameters) {
    String metadata =
        tokens.areAccepted()
            ? ", resource_metadata=\"" + resources.metadataUrl(endpoint()) + "\""
            : "";
    String challenge = "Bearer realm=\"holdfast\"" + metadata + parameters;
    return new RequestRejectedException(status, JsonRpcErrorCode.SERVER_ERROR, message, challenge);
  }

  /**
   * Returns who sends the current request to an upstream. May wait for the issuer of its token.
   *
   * @param needsToken whether the upstream needs a token, so that a key is not enough
   * @throws RequestRejectedException if the token is not valid there, or the caller lacks a scope
   */
  Caller caller(String upstream, boolean needsToken) {
    if (!isRequired()) {
      return Caller.UNKNOWN;
    }
    Caller caller =
        current.getProperty(TOKEN) instanceof String token
            ? ofToken(token, upstream)
            : (Caller) current.getProperty(CALLER);
    if (caller == null) {
      throw new RequestRejectedException(UNAUTHORIZED, "A key or an access token is required");
    }
    if (needsToken && caller.token() == null) {
      throw unauthorized("This server needs an access token; a key is not enough", "");
    }
    Optional<String> missing = scopes.missing(upstream, caller);
    if (missing.isPresent()) {
      throw forbidden(caller, upstream, missing.get());
    }
    return caller;
  }

  private Caller ofToken(String token, String upstream) {
    try {
      return tokens.caller(token, resources.names(upstream), client());
    } catch (TokenRefusedException.Invalid invalid) {
      throw unauthorized(String.valueOf(invalid.getMessage()), INVALID);
    } catch (TokenRefusedException.IssuerAway away) {
      UNCHECKED_TOKENS.warn(LOG, "tokens cannot be checked reason=%s", away.getMessage());
      throw new RequestRejectedException(UNAVAILABLE, "The token cannot be checked now; try again");
    }
  }

  private RequestRejectedException forbidden(Caller caller, String upstream, String scope) {
    String message = "The scope %s is missing".formatted(scope);
    audit.upstreamDenied(
        caller.principal(), client(), upstream, "the scope %s is missing".formatted(scope));
    return refusal(FORBIDDEN, message, ", error=\"insufficient_scope\", scope=\"" + scope + "\"");
  }

  /**
   * The token of a client, for its stream; null if the stream need not end with it.
   *
   * @param token null for none
   * @param network the network of the client
   */
  @Nullable Credentials credentials(String upstream, @Nullable ClientToken token, String network) {
    if (token == null || token.expires() == null || interval.isZero()) {
      return null;
    }
    Set<String> names = resources.names(upstream);
    return new Credentials(token.expires(), interval, () -> isValid(token.value(), names, network));
  }

  private boolean isValid(String token, Set<String> names, String client) {
    try {
      Caller _ = tokens.caller(token, names, client);
      return true;
    } catch (TokenRefusedException.IssuerAway away) {
      return true;
    } catch (TokenRefusedException.Invalid invalid) {
      return false;
    }
  }
}

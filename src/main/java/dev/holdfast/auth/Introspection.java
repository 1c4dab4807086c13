package dev.holdfast.auth;

import dev.holdfast.budget.Shares;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jspecify.annotations.Nullable;

/**
 * Asks an authorization server about tokens (RFC 7662). The gateway proves who it is with HTTP
 * Basic. Thread-safe.
 */
final class Introspection {

  /** Strangers can send any token. Beyond it, requests wait. */
  static final int MAX_AT_ONCE = 32;

  /** Unknown tokens of one client. Beyond it, requests fail. */
  static final int MAX_OF_ONE = 8;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final String NOT_ACTIVE = "The token is not active";

  /** RFC 6749, section 5.2. Other errors with 400 are about the token. */
  private static final Pattern ABOUT_GATEWAY =
      Pattern.compile("invalid_client|unauthorized_client");

  private final IssuerMetadata issuer;
  private final AuthConfig.Introspection settings;
  private final String authorization;
  private final Semaphore unknown = new Semaphore(MAX_AT_ONCE);

  /** For tokens that were valid before, so that they do not wait for unknown ones. */
  private final Semaphore known = new Semaphore(MAX_AT_ONCE);

  private final Shares<String> clients = new Shares<>(MAX_OF_ONE);

  /** Nano time at which the server last gave no answer; null when it always did. */
  private volatile @Nullable Long failedAt;

  Introspection(IssuerMetadata issuer, AuthConfig.Introspection settings) {
    this.issuer = issuer;
    this.settings = settings;
    authorization = TokenEndpoint.basic(settings.clientId(), settings.clientSecret());
  }

  /** Returns true to ask about JSON Web Tokens, too. */
  boolean isForAll() {
    return settings.tokens() == AuthConfig.Tokens.ALL;
  }

  /**
   * Returns what the server says about a token.
   *
   * @param client who has sent an unknown token; null for a token that was valid before
   * @return the fields of its answer, which have the names of claims (RFC 7662, section 2.2)
   * @throws TokenRefusedException when the token is not active, or the server is away or refuses
   *     the gateway
   */
  JwtClaims ask(String token, @Nullable String client) {
    requireAnswers();
    URI endpoint = settings.endpoint().orElseGet(() -> issuer.location("introspection_endpoint"));
    JwtClaims claims =
        client == null ? askWithPlace(endpoint, token, known) : askFor(client, endpoint, token);
    issuer.ended(null);
    if (!Boolean.TRUE.equals(claims.getClaimValue("active"))) {
      throw new TokenRefusedException.Invalid(NOT_ACTIVE);
    }
    return claims;
  }

  private JwtClaims askFor(String client, URI endpoint, String token) {
    if (!clients.tryTake(client, 1)) {
      throw new TokenRefusedException.IssuerAway("Too many tokens of one client at once");
    }
    try {
      return askWithPlace(endpoint, token, unknown);
    } finally {
      clients.giveBack(client, 1);
    }
  }

  private JwtClaims askWithPlace(URI endpoint, String token, Semaphore places) {
    try {
      if (!places.tryAcquire(IssuerMetadata.TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new TokenRefusedException.IssuerAway("Too many tokens are asked about at once");
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new TokenRefusedException.IssuerAway("interrupted");
    }
    Map<String, String> form = new LinkedHashMap<>();
    form.put("token_type_hint", "access_token");
    form.put("token", token);
    try {
      requireAnswers();
      return read(endpoint, issuer.http().post(endpoint, form, authorization));
    } catch (TokenException failure) {
      failedAt = System.nanoTime();
      throw away(endpoint + " failed: " + failure.getMessage());
    } finally {
      places.release();
    }
  }

  /** After a failure, requests fail for a while without another attempt. */
  private void requireAnswers() {
    Long failed = failedAt;
    if (failed != null && System.nanoTime() - failed < IssuerMetadata.BETWEEN_READS.toNanos()) {
      throw new TokenRefusedException.IssuerAway("The token's issuer is away");
    }
  }

  private TokenRefusedException away(String why) {
    issuer.ended(why);
    return new TokenRefusedException.IssuerAway("The token's issuer cannot be asked: " + why);
  }

  /**
   * Reads an answer. A status does not stop others from asking: strangers choose the tokens that a
   * server fails at.
   */
  private JwtClaims read(URI endpoint, JsonHttp.Answer answer) {
    boolean isAboutGateway =
        answer.status() != BAD_REQUEST || ABOUT_GATEWAY.matcher(answer.body()).find();
    if (answer.status() != OK && isAboutGateway) {
      throw away(endpoint + " failed: status " + answer.status());
    }
    if (answer.status() != OK) {
      throw new TokenRefusedException.Invalid(NOT_ACTIVE);
    }
    try {
      return JwtClaims.parse(answer.body());
    } catch (InvalidJwtException malformed) {
      // The text of the library may quote the answer.
      throw away(endpoint + " failed: no JSON");
    }
  }
}

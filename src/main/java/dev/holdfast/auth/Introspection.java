package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.util.Base64;
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

  static final int MAX_RESPONSE = 64 * 1024;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final String NOT_ACTIVE = "The token is not active";

  /** RFC 6749, section 5.2. Other errors with 400 are about the token. */
  private static final Pattern ABOUT_GATEWAY =
      Pattern.compile("invalid_client|unauthorized_client");

  private final IssuerMetadata issuer;
  private final IntrospectionSettings settings;
  private final String authorization;
  private final Semaphore places = new Semaphore(MAX_AT_ONCE);

  /** When the server last gave no answer, by the nano time; null when it always did. */
  private volatile @Nullable Long failedAt;

  Introspection(IssuerMetadata issuer, IntrospectionSettings settings) {
    this.issuer = issuer;
    this.settings = settings;
    String pair = encoded(settings.clientId()) + ":" + encoded(settings.clientSecret());
    authorization = "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8));
  }

  /** RFC 6749, section 2.3.1. */
  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  /** Whether to ask about JSON Web Tokens, too. */
  boolean isForAll() {
    return settings.all();
  }

  /**
   * Returns what the server says about a token.
   *
   * @return the fields of its answer, which have the names of claims (RFC 7662, section 2.2)
   * @throws TokenException when the token is not active, or the server is away or refuses the
   *     gateway
   */
  JwtClaims ask(String token) {
    requireAnswers();
    String endpoint =
        settings.endpoint() == null
            ? issuer.location("introspection_endpoint")
            : settings.endpoint().toString();
    JwtClaims claims = askWithPlace(endpoint, token);
    issuer.ended(null);
    if (!Boolean.TRUE.equals(claims.getClaimValue("active"))) {
      throw new TokenException.Invalid(NOT_ACTIVE);
    }
    return claims;
  }

  private JwtClaims askWithPlace(String endpoint, String token) {
    try {
      if (!places.tryAcquire(IssuerMetadata.READ_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new TokenException.IssuerAway("Too many tokens are asked about at once");
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new TokenException.IssuerAway("interrupted");
    }
    try {
      requireAnswers();
      return read(endpoint, post(endpoint, token));
    } catch (IOException failure) {
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
      throw new TokenException.IssuerAway("The token's issuer is away");
    }
  }

  private TokenException away(String why) {
    issuer.ended(why);
    return new TokenException.IssuerAway("The token's issuer cannot be asked: " + why);
  }

  private record Answer(int status, String text) {}

  /**
   * Reads an answer. A status does not stop others from asking: strangers choose the tokens that a
   * server fails at.
   */
  private JwtClaims read(String endpoint, Answer answer) {
    boolean isAboutGateway =
        answer.status() != BAD_REQUEST || ABOUT_GATEWAY.matcher(answer.text()).find();
    if (answer.status() != OK && isAboutGateway) {
      throw away(endpoint + " failed: status " + answer.status());
    }
    if (answer.status() != OK) {
      throw new TokenException.Invalid(NOT_ACTIVE);
    }
    try {
      return JwtClaims.parse(answer.text());
    } catch (InvalidJwtException malformed) {
      // The text of the library may quote the answer.
      throw away(endpoint + " failed: no JSON");
    }
  }

  private Answer post(String endpoint, String token) throws IOException {
    HttpURLConnection connection = issuer.connection(endpoint);
    // The token and the secret are for this endpoint only.
    connection.setInstanceFollowRedirects(false);
    connection.setRequestMethod("POST");
    connection.setRequestProperty("Authorization", authorization);
    connection.setRequestProperty("Accept", "application/json");
    connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
    connection.setDoOutput(true);
    try (OutputStream body = connection.getOutputStream()) {
      body.write(("token_type_hint=access_token&token=" + encoded(token)).getBytes(UTF_8));
    }
    int status = connection.getResponseCode();
    InputStream body =
        status < BAD_REQUEST ? connection.getInputStream() : connection.getErrorStream();
    return new Answer(status, IssuerMetadata.body(connection, body, MAX_RESPONSE));
  }
}

package dev.holdfast.auth;

import dev.holdfast.lock.AutoLock;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jose4j.http.Get;
import org.jose4j.http.SimpleResponse;
import org.jose4j.json.JsonUtil;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.jwt.consumer.JwtContext;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * An authorization server, and the check of the tokens that it has issued. Its metadata (OpenID
 * Connect Discovery 1.0, RFC 8414) and keys are read when the first token comes. While it is away,
 * its last keys are used. Thread-safe.
 */
final class TokenIssuer {

  /** How much the clock of an issuer may differ from ours. */
  static final Duration CLOCK_SKEW = Duration.ofSeconds(30);

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(3);
  private static final int MAX_RESPONSE = 1 << 20;

  /** How long keys are used before they are read again; a token with another one reads them too. */
  private static final Duration KEYS_FRESH = Duration.ofMinutes(10);

  private static final Duration KEYS_KEPT = Duration.ofDays(1);

  /** Strangers can send tokens with unknown keys, and tokens while the issuer is away. */
  private static final Duration BETWEEN_READS = Duration.ofSeconds(3);

  /** All that a public key can check. A shared secret is none. */
  private static final AlgorithmConstraints ALGORITHMS =
      new AlgorithmConstraints(
          ConstraintType.PERMIT,
          AlgorithmIdentifiers.RSA_USING_SHA256,
          AlgorithmIdentifiers.RSA_USING_SHA384,
          AlgorithmIdentifiers.RSA_USING_SHA512,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA256,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA384,
          AlgorithmIdentifiers.RSA_PSS_USING_SHA512,
          AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256,
          AlgorithmIdentifiers.ECDSA_USING_P384_CURVE_AND_SHA384,
          AlgorithmIdentifiers.ECDSA_USING_P521_CURVE_AND_SHA512,
          AlgorithmIdentifiers.EDDSA);

  private final String url;
  private final Get http = new Get();
  private final AutoLock reading = new AutoLock();

  /** Null before the metadata was read. */
  private volatile @Nullable JwtConsumer consumer;

  /** Written under the lock. */
  private @Nullable Long failedAt;

  /** Why the last look for metadata or keys has failed; null when it has not. */
  private volatile @Nullable String problem;

  /** Creates an issuer by its URL, which is its name in tokens. Reads nothing yet. */
  TokenIssuer(String url) {
    this.url = url;
    http.setConnectTimeout((int) CONNECT_TIMEOUT.toMillis());
    http.setReadTimeout((int) READ_TIMEOUT.toMillis());
    http.setResponseBodySizeLimit(MAX_RESPONSE);
    http.setRetries(0);
  }

  /** Why the issuer is away, as this replica saw it when it last needed it. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  private SimpleResponse read(String location) throws IOException {
    try {
      SimpleResponse response = http.get(location);
      problem = null;
      return response;
    } catch (IOException away) {
      problem = location + " cannot be read: " + away.getMessage();
      throw away;
    }
  }

  /**
   * Checks the signature of a token, its issuer, the times of its validity, and that it has a
   * subject, but not its audience.
   *
   * @throws TokenException when it is not valid, or the issuer is away and its keys are not known
   */
  void check(JwtContext token) {
    try {
      consumer().processContext(token);
    } catch (InvalidJwtException invalid) {
      if (isCausedByIo(invalid)) {
        throw new TokenException.IssuerAway("The keys of the token's issuer cannot be read");
      }
      // The descriptions of the library may quote the token.
      throw new TokenException.Invalid(
          invalid.hasExpired() ? "The token has expired" : "The token is not valid");
    }
  }

  private static boolean isCausedByIo(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException) {
        return true;
      }
    }
    return false;
  }

  private JwtConsumer consumer() {
    JwtConsumer known = consumer;
    if (known != null) {
      return known;
    }
    try (var _ = reading.hold()) {
      JwtConsumer meanwhile = consumer;
      if (meanwhile != null) {
        return meanwhile;
      }
      Long failed = failedAt;
      if (failed != null && System.nanoTime() - failed < BETWEEN_READS.toNanos()) {
        throw new TokenException.IssuerAway("The token's issuer is away");
      }
      try {
        JwtConsumer read = consumer(keysUrl());
        consumer = read;
        return read;
      } catch (IOException away) {
        failedAt = System.nanoTime();
        throw new TokenException.IssuerAway(
            "The token's issuer is away: " + String.valueOf(away.getMessage()));
      }
    }
  }

  private JwtConsumer consumer(String keysUrl) {
    HttpsJwks keys = new HttpsJwks(keysUrl);
    keys.setSimpleHttpGet(this::read);
    keys.setDefaultCacheDuration(KEYS_FRESH.toSeconds());
    keys.setRetainCacheOnErrorDuration(KEYS_KEPT.toSeconds());
    keys.setRefreshReprieveThreshold(BETWEEN_READS.toMillis());
    return new JwtConsumerBuilder()
        .setVerificationKeyResolver(new HttpsJwksVerificationKeyResolver(keys))
        .setJwsAlgorithmConstraints(ALGORITHMS)
        .setExpectedIssuer(url)
        .setRequireExpirationTime()
        .setRequireSubject()
        // Which one, depends on the request.
        .setSkipDefaultAudienceValidation()
        .setAllowedClockSkewInSeconds((int) CLOCK_SKEW.toSeconds())
        .build();
  }

  /**
   * Reads where the keys are.
   *
   * @throws IOException when no metadata is there that names this issuer
   */
  private String keysUrl() throws IOException {
    IOException failure = new IOException("no metadata");
    for (String metadata : metadataUrls()) {
      try {
        SimpleResponse response = read(metadata);
        Map<String, Object> fields = JsonUtil.parseJson(response.getBody());
        if (url.equals(fields.get("issuer")) && fields.get("jwks_uri") instanceof String keys) {
          return keys;
        }
        failure = new IOException(metadata + " does not have this issuer and its jwks_uri");
      } catch (IOException | JoseException away) {
        failure = new IOException(metadata + " cannot be read", away);
      }
    }
    throw failure;
  }

  /** The places of OpenID Connect Discovery and of RFC 8414, section 3. */
  private Set<String> metadataUrls() {
    int host = url.indexOf("//") + 2;
    int path = url.indexOf('/', host);
    String root = path < 0 ? url : url.substring(0, path);
    String rest = path < 0 ? "" : url.substring(path).replaceAll("/$", "");
    return Set.of(
        root + rest + "/.well-known/openid-configuration",
        root + "/.well-known/oauth-authorization-server" + rest);
  }
}

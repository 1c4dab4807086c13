package dev.holdfast.auth;

import dev.holdfast.oauth.JsonHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.jwt.consumer.JwtContext;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;
import org.jspecify.annotations.Nullable;

/**
 * An authorization server, and the check of the tokens that it has issued. Its metadata and keys
 * are read when the first token comes. While it is away, its last keys are used. Thread-safe.
 */
public final class TokenIssuer {

  /** Time limit of a request to an issuer. */
  public static final Duration TIMEOUT = IssuerMetadata.TIMEOUT;

  /** Most that the clock of an issuer may differ from ours. */
  static final Duration CLOCK_SKEW = Duration.ofSeconds(30);

  /**
   * Time for which keys are used before they are read again; a token with another one reads them
   * too.
   */
  private static final Duration KEYS_FRESH = Duration.ofMinutes(10);

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

  /** Reads a token without a check, to find its issuer. */
  static final JwtConsumer READER =
      new JwtConsumerBuilder()
          .setSkipAllValidators()
          .setDisableRequireSignature()
          .setSkipSignatureVerification()
          .build();

  private final IssuerMetadata metadata;
  private final @Nullable Introspection introspection;
  private final JwtConsumer consumer;

  /**
   * Creates an issuer. Reads nothing yet.
   *
   * @param url its name in tokens
   * @param asked how to ask it about tokens; null to accept only those that can be checked here
   * @param http sends requests to it, within {@link #TIMEOUT}
   */
  public TokenIssuer(String url, AuthConfig.@Nullable Introspection asked, JsonHttp http) {
    metadata = new IssuerMetadata(url, http);
    introspection = asked == null ? null : new Introspection(metadata, asked);
    consumer = consumer(metadata);
  }

  String url() {
    return metadata.url();
  }

  Optional<String> problem() {
    return metadata.problem();
  }

  /**
   * Settings for questions about tokens that cannot be checked here; empty if it may not be asked.
   */
  Optional<Introspection> introspection() {
    return Optional.ofNullable(introspection);
  }

  /**
   * Checks the signature of a token, its issuer, the times of its validity, and that it has a
   * subject, but not its audience.
   *
   * @throws TokenRefusedException when it is not valid, or the issuer is away and its keys are not
   *     known
   */
  void check(JwtContext token) {
    try {
      consumer.processContext(token);
    } catch (InvalidJwtException invalid) {
      for (Throwable cause = invalid; cause != null; cause = cause.getCause()) {
        if (cause instanceof TokenRefusedException away) {
          throw away;
        }
        if (cause instanceof IOException) {
          throw new TokenRefusedException.IssuerAway(
              "The keys of the token's issuer cannot be read");
        }
      }
      // The descriptions of the library may quote the token.
      throw new TokenRefusedException.Invalid(
          invalid.hasExpired() ? "The token has expired" : "The token is not valid");
    }
  }

  IssuerMetadata metadata() {
    return metadata;
  }

  /**
   * Reads an ID token as {@link #check} does, which must be for a client.
   *
   * @throws TokenRefusedException when it is not valid, or cannot be checked
   */
  JwtClaims claims(String idToken, String client) {
    try {
      JwtContext token = READER.process(idToken);
      check(token);
      JwtClaims claims = token.getJwtClaims();
      if (claims.getAudience().contains(client)) {
        return claims;
      }
    } catch (InvalidJwtException | MalformedClaimException malformed) {
      throw new TokenRefusedException.Invalid("The ID token is malformed");
    }
    throw new TokenRefusedException.Invalid("The ID token is for another client");
  }

  private static JwtConsumer consumer(IssuerMetadata metadata) {
    HttpsJwks keys = new HttpsJwks(metadata.url());
    // The metadata has the location of the keys.
    keys.setSimpleHttpGet(_ -> metadata.keys());
    keys.setDefaultCacheDuration(KEYS_FRESH.toSeconds());
    keys.setRefreshReprieveThreshold(IssuerMetadata.BETWEEN_READS.toMillis());
    return new JwtConsumerBuilder()
        .setVerificationKeyResolver(new HttpsJwksVerificationKeyResolver(keys))
        .setJwsAlgorithmConstraints(ALGORITHMS)
        .setExpectedIssuer(metadata.url())
        .setRequireExpirationTime()
        .setRequireSubject()
        // Which one, depends on the request.
        .setSkipDefaultAudienceValidation()
        .setAllowedClockSkewInSeconds((int) CLOCK_SKEW.toSeconds())
        .build();
  }
}

package dev.holdfast.auth;

import dev.holdfast.call.Principal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jspecify.annotations.Nullable;

/**
 * The content of a valid token.
 *
 * @param expires when the token is no longer valid
 * @param until when to check it again
 */
record CheckedToken(
    Principal principal,
    Set<String> scopes,
    Instant expires,
    Set<String> audiences,
    Instant until) {

  /** After this time a token is checked again, because its issuer may have replaced the key. */
  private static final Duration REMEMBERED = Duration.ofMinutes(1);

  /** After this time the issuer is asked again, which may have revoked the token. */
  private static final Duration ANSWER_REMEMBERED = Duration.ofSeconds(30);

  private static final int MAX_SUBJECT = 256;

  /**
   * Reads the claims of a JSON Web Token that is valid now.
   *
   * @throws TokenRefusedException.Invalid when one of them cannot be used
   */
  static CheckedToken of(String issuer, JwtClaims claims, Instant now) {
    try {
      return of(issuer, claims, now.plus(REMEMBERED), TokenIssuer.CLOCK_SKEW);
    } catch (MalformedClaimException | DateTimeException | ArithmeticException malformed) {
      throw new TokenRefusedException.Invalid("The token is malformed");
    }
  }

  /**
   * Checks what an issuer says about a token as if the token said it. The answer is not used after
   * the token has expired.
   *
   * @throws TokenRefusedException.Invalid when the token is not valid, or the answer lacks
   *     something
   */
  static CheckedToken ofAnswer(String issuer, JwtClaims claims, Instant now) {
    try {
      if (claims.hasClaim("iss") && !issuer.equals(claims.getIssuer())) {
        throw new TokenRefusedException.Invalid("The token's issuer is not known here");
      }
      NumericDate expiry = claims.getExpirationTime();
      if (claims.getSubject() == null || expiry == null) {
        throw new TokenRefusedException.Invalid("The token has no subject or no expiry");
      }
      if (expiry.getValue() <= now.minus(TokenIssuer.CLOCK_SKEW).getEpochSecond()) {
        throw new TokenRefusedException.Invalid("The token has expired");
      }
      NumericDate start = claims.getNotBefore();
      if (start != null && start.getValue() > now.plus(TokenIssuer.CLOCK_SKEW).getEpochSecond()) {
        throw new TokenRefusedException.Invalid("The token is not valid yet");
      }
      return of(issuer, claims, now.plus(ANSWER_REMEMBERED), Duration.ZERO);
    } catch (MalformedClaimException | DateTimeException | ArithmeticException malformed) {
      throw new TokenRefusedException.Invalid("The token is malformed");
    }
  }

  /**
   * Reads claims.
   *
   * @param latest when to check them again at the latest
   * @param skew time after the expiry for which they may be used
   */
  private static CheckedToken of(String issuer, JwtClaims claims, Instant latest, Duration skew)
      throws MalformedClaimException {
    String subject = subject(claims);
    Instant expiry = Instant.ofEpochSecond(claims.getExpirationTime().getValue());
    Instant end = expiry.plus(skew);
    return new CheckedToken(
        new Principal(issuer, subject),
        scopes(claims),
        expiry.plus(TokenIssuer.CLOCK_SKEW),
        Set.copyOf(claims.getAudience()),
        latest.isBefore(end) ? latest : end);
  }

  /** Reads the subject of claims that have one. */
  static String subject(JwtClaims claims) throws MalformedClaimException {
    String subject = claims.getSubject();
    if (subject.isEmpty() || subject.length() > MAX_SUBJECT) {
      throw new TokenRefusedException.Invalid("The token's subject is too long");
    }
    return subject;
  }

  /** RFC 9068, section 2.2.3, and the claim that Entra ID and Okta have instead. */
  private static Set<String> scopes(JwtClaims claims) {
    Set<String> scopes = new HashSet<>();
    for (String name : List.of("scope", "scp")) {
      Set<String> _ = words(claims.getClaimValue(name), scopes);
    }
    return scopes;
  }

  /**
   * Adds the words of a claim: a text with spaces between them, or a list.
   *
   * @param value null for none
   */
  static Set<String> words(@Nullable Object value, Set<String> to) {
    if (value instanceof String words) {
      to.addAll(Arrays.asList(words.split(" ", -1)));
    } else if (value instanceof Collection<?> list) {
      list.forEach(each -> to.add(String.valueOf(each)));
    }
    to.remove("");
    return to;
  }
}

package dev.holdfast.auth;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.session.PrincipalId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.jwt.consumer.JwtContext;
import org.jspecify.annotations.Nullable;

/** Checks the access tokens of clients: JSON Web Tokens (RFC 9068). Thread-safe. */
public final class AccessTokens {

  private static final int MAX_REMEMBERED = 1000;

  /** After this time a token is checked again, because its issuer may have replaced the key. */
  private static final Duration REMEMBERED = Duration.ofMinutes(1);

  private static final int MAX_SUBJECT = 256;

  /** Reads a token without a check, to find its issuer. */
  private static final JwtConsumer READER =
      new JwtConsumerBuilder()
          .setSkipAllValidators()
          .setDisableRequireSignature()
          .setSkipSignatureVerification()
          .build();

  private final Map<String, TokenIssuer> issuers = new TreeMap<>();
  private final Clock clock;
  private final AutoLock lock = new AutoLock();

  /** Tokens that were valid, the longest unused first. */
  private final LinkedHashMap<String, Checked> remembered = new LinkedHashMap<>(16, 0.75f, true);

  private record Checked(Principal principal, Set<String> audiences, Instant until) {}

  /**
   * Creates the check for issuers.
   *
   * @param urls their names, as in their tokens
   */
  public AccessTokens(Collection<String> urls, Clock clock) {
    this.clock = clock;
    urls.forEach(url -> issuers.put(url, new TokenIssuer(url)));
  }

  /** Why issuers are away, by their URLs; empty for one that is there. */
  public Map<String, Optional<String>> problems() {
    return issuers.entrySet().stream()
        .collect(
            Collectors.toUnmodifiableMap(Map.Entry::getKey, issuer -> issuer.getValue().problem()));
  }

  /** Whether tokens are accepted. */
  public boolean areAccepted() {
    return !issuers.isEmpty();
  }

  /** The issuers, in order. */
  public List<String> issuers() {
    return List.copyOf(issuers.keySet());
  }

  /**
   * Returns whom a token stands for. May wait for the issuer.
   *
   * @param audiences the names of the resource that the client uses. The token must be for one of
   *     them (RFC 8707)
   * @throws TokenException when it stands for nobody, or cannot be checked now
   */
  public Principal principal(String token, Set<String> audiences) {
    Instant now = clock.instant();
    @Nullable Checked known;
    try (var _ = lock.hold()) {
      known = remembered.get(token);
    }
    if (known == null || !now.isBefore(known.until())) {
      known = check(token, now);
      remember(token, known);
    }
    if (known.audiences().stream().noneMatch(audiences::contains)) {
      throw new TokenException.Invalid("The token is for another resource");
    }
    return known.principal();
  }

  private void remember(String token, Checked checked) {
    try (var _ = lock.hold()) {
      remembered.put(token, checked);
      if (remembered.size() > MAX_REMEMBERED) {
        remembered.pollFirstEntry();
      }
    }
  }

  private Checked check(String token, Instant now) {
    try {
      JwtContext context = READER.process(token);
      JwtClaims claims = context.getJwtClaims();
      TokenIssuer issuer = issuers.get(String.valueOf(claims.getClaimValue("iss")));
      if (issuer == null) {
        throw new TokenException.Invalid("The token's issuer is not known here");
      }
      issuer.check(context);
      String subject = claims.getSubject();
      if (subject.isEmpty() || subject.length() > MAX_SUBJECT) {
        throw new TokenException.Invalid("The token's subject is too long");
      }
      Instant end =
          Instant.ofEpochSecond(claims.getExpirationTime().getValue()).plus(TokenIssuer.CLOCK_SKEW);
      PrincipalId id = new PrincipalId(claims.getIssuer(), subject);
      Instant until = now.plus(REMEMBERED);
      return new Checked(
          new Principal(id, scopes(claims), end),
          Set.copyOf(claims.getAudience()),
          until.isBefore(end) ? until : end);
    } catch (InvalidJwtException | MalformedClaimException malformed) {
      throw new TokenException.Invalid("The token is malformed");
    }
  }

  /** RFC 9068, section 2.2.3, and the claim that Entra ID and Okta have instead. */
  private static Set<String> scopes(JwtClaims claims) {
    Set<String> scopes = new HashSet<>();
    for (String name : List.of("scope", "scp")) {
      Object value = claims.getClaimValue(name);
      if (value instanceof String words) {
        scopes.addAll(Arrays.asList(words.split(" ", -1)));
      } else if (value instanceof Collection<?> list) {
        list.forEach(each -> scopes.add(String.valueOf(each)));
      }
    }
    scopes.remove("");
    return scopes;
  }
}

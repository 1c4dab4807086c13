package dev.holdfast.auth;

import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientToken;
import dev.holdfast.lock.Futures;
import dev.holdfast.lock.LruMap;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtContext;
import org.jspecify.annotations.Nullable;

/**
 * Checks the access tokens of clients. JSON Web Tokens (RFC 9068) are checked here. About others,
 * and about all if configured, the issuer is asked (RFC 7662). Thread-safe.
 */
public final class AccessTokens {

  private static final int MAX_REMEMBERED = 1000;

  /** Time for which the issuer is not asked again about a token that it has refused. */
  private static final Duration REFUSED_REMEMBERED = Duration.ofSeconds(10);

  /** By their names in tokens. */
  private final Map<String, TokenIssuer> issuers = new TreeMap<>();

  private final InstantSource clock;

  /** Tokens that were valid. */
  private final Map<String, CheckedToken> remembered = LruMap.create(MAX_REMEMBERED);

  /**
   * Tokens that issuers have refused, by their hashes. Not among the others, which strangers could
   * push out with them.
   */
  private final Map<String, Refused> refused = LruMap.create(MAX_REMEMBERED);

  /** Tokens about which issuers are being asked. */
  private final Map<String, CompletableFuture<CheckedToken>> asked = new ConcurrentHashMap<>();

  private record Refused(String reason, Instant until) {}

  /** Creates the check of tokens of the issuers. */
  public AccessTokens(List<TokenIssuer> accepted, InstantSource clock) {
    this.clock = clock;
    accepted.forEach(issuer -> issuers.put(issuer.url(), issuer));
  }

  /** Reasons for which issuers are away, by their URLs; empty for one that is there. */
  public Map<String, Optional<String>> problems() {
    return issuers.entrySet().stream()
        .collect(
            Collectors.toUnmodifiableMap(Map.Entry::getKey, issuer -> issuer.getValue().problem()));
  }

  /** Returns true if tokens are accepted. */
  public boolean areAccepted() {
    return !issuers.isEmpty();
  }

  /** The issuers, in order. */
  public List<String> issuers() {
    return List.copyOf(issuers.keySet());
  }

  /**
   * Returns the caller that a token stands for. May wait for the issuer.
   *
   * @param audiences the names of the resource that the client uses. The token must be for one of
   *     them (RFC 8707)
   * @param client the network of the client, which may ask about a few unknown tokens at once
   * @throws TokenRefusedException when it stands for nobody, or cannot be checked now
   */
  public Caller caller(String token, Set<String> audiences, String client) {
    Instant now = clock.instant();
    CheckedToken known = remembered(token, now);
    if (known == null) {
      known = check(token, now, client);
    }
    if (known.audiences().stream().noneMatch(audiences::contains)) {
      throw new TokenRefusedException.Invalid("The token is for another resource");
    }
    return Caller.of(known.principal(), known.scopes(), new ClientToken(token, known.expires()));
  }

  private @Nullable CheckedToken remembered(String token, Instant now) {
    CheckedToken known = remembered.get(token);
    return known == null || !now.isBefore(known.until()) ? null : known;
  }

  private CheckedToken remember(String token, CheckedToken checked) {
    remembered.put(token, checked);
    return checked;
  }

  private CheckedToken check(String token, Instant now, String client) {
    JwtContext context;
    try {
      context = TokenIssuer.READER.process(token);
    } catch (InvalidJwtException opaque) {
      // A key that is not known here is none of an issuer's business.
      List<TokenIssuer> askable =
          new AccessKey(token).hasPrefix()
              ? List.of()
              : issuers.values().stream().filter(each -> each.introspection().isPresent()).toList();
      if (askable.isEmpty()) {
        throw new TokenRefusedException.Invalid("The token is malformed");
      }
      return askOnce(token, now, askable, client);
    }
    JwtClaims claims = context.getJwtClaims();
    TokenIssuer issuer = issuers.get(String.valueOf(claims.getClaimValue("iss")));
    if (issuer == null) {
      throw new TokenRefusedException.Invalid("The token's issuer is not known here");
    }
    if (issuer.introspection().filter(Introspection::isForAll).isPresent()) {
      return askOnce(token, now, List.of(issuer), client);
    }
    issuer.check(context);
    return remember(token, CheckedToken.of(issuer.url(), claims, now));
  }

  /** One thread at a time asks about a token. Others wait for what it finds. */
  private CheckedToken askOnce(
      String token, Instant now, List<TokenIssuer> askable, String client) {
    CompletableFuture<CheckedToken> mine = new CompletableFuture<>();
    CompletableFuture<CheckedToken> earlier = asked.putIfAbsent(token, mine);
    if (earlier != null) {
      return Futures.join(earlier);
    }
    try {
      CheckedToken meanwhile = remembered(token, now);
      mine.complete(
          meanwhile == null ? remember(token, ask(token, now, askable, client)) : meanwhile);
    } catch (RuntimeException | Error failure) {
      mine.completeExceptionally(failure);
    } finally {
      asked.remove(token, mine);
    }
    return Futures.join(mine);
  }

  /** An opaque token does not say whose it is, so each issuer is asked until one knows it. */
  private CheckedToken ask(String token, Instant now, List<TokenIssuer> askable, String client) {
    String hash = new AccessKey(token).hash();
    Refused before = refused.get(hash);
    if (before != null && now.isBefore(before.until())) {
      throw new TokenRefusedException.Invalid(before.reason());
    }
    boolean known = remembered.get(token) != null;
    TokenRefusedException failure = new TokenRefusedException.Invalid("The token is not active");
    for (TokenIssuer issuer : askable) {
      try {
        JwtClaims claims = issuer.introspection().orElseThrow().ask(token, known ? null : client);
        return CheckedToken.ofAnswer(issuer.url(), claims, now);
      } catch (TokenRefusedException.IssuerAway away) {
        failure = away;
      } catch (TokenRefusedException.Invalid invalid) {
        failure = failure instanceof TokenRefusedException.IssuerAway ? failure : invalid;
      }
    }
    if (failure instanceof TokenRefusedException.Invalid invalid) {
      refused.put(
          hash, new Refused(String.valueOf(invalid.getMessage()), now.plus(REFUSED_REMEMBERED)));
    }
    throw failure;
  }
}

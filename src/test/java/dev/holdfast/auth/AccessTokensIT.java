package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.testing.OpenIdProvider;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tokens of a real provider, and what others have made to look like them. */
class AccessTokensIT {

  private static final String RESOURCE = "https://mcp.example.com/mcp";
  private static final String OTHER = "https://mcp.example.com/servers/other/mcp";
  private static final String CLIENT = "192.0.2.0/24";
  private static final Set<String> HERE = Set.of(RESOURCE);

  @AutoClose private OpenIdProvider provider = OpenIdProvider.start();
  @AutoClose private Vertx vertx = Vertx.vertx();
  private final JsonHttp http = new JsonHttp(vertx, TokenIssuer.TIMEOUT, _ -> {});
  private final AccessTokens tokens = tokens();

  private AccessTokens tokens() {
    return new AccessTokens(
        List.of(new TokenIssuer(provider.issuer(), null, http)), Clock.systemUTC());
  }

  private void assertInvalid(String token, String reason) {
    assertThatThrownBy(() -> tokens.caller(token, HERE, CLIENT))
        .isInstanceOf(TokenRefusedException.Invalid.class)
        .hasMessage(reason);
  }

  @Test
  void shouldTellSubjectScopesAndExpiry() {
    Caller alice = tokens.caller(provider.token("alice", RESOURCE, "tools files"), HERE, CLIENT);

    assertThat(alice.principal()).isEqualTo(new Principal(provider.issuer(), "alice"));
    assertThat(alice.scopes()).containsExactlyInAnyOrder("tools", "files");
    assertThat(Objects.requireNonNull(alice.token()).expires())
        .isBetween(Instant.now().plusSeconds(500), Instant.now().plusSeconds(700));
  }

  @Test
  void shouldRefuseTokensForAnotherResource() {
    String token = provider.token("alice", OTHER, "tools");

    assertInvalid(token, "The token is for another resource");
    assertThat(tokens.caller(token, Set.of(RESOURCE, OTHER), CLIENT).principal().subject())
        .isEqualTo("alice");
    assertInvalid(token, "The token is for another resource");
  }

  @Test
  void shouldRefuseExpiredTokensAlsoWhenTheyWereValidBefore() {
    assertInvalid(provider.token("expired", RESOURCE, "tools"), "The token has expired");

    String brief = provider.token("brief", RESOURCE, "tools");
    assertThat(Objects.requireNonNull(tokens.caller(brief, HERE, CLIENT).token()).expires())
        .isBefore(Instant.now().plusSeconds(10));
    await()
        .untilAsserted(() ->
            assertThatThrownBy(() -> tokens.caller(brief, HERE, CLIENT))
                .hasMessage("The token has expired"));
  }

  @Test
  void shouldRefuseWhatTheIssuerHasNotSigned() throws Exception {
    String token = provider.token("alice", RESOURCE, "tools");
    String[] parts = token.split("\\.", -1);
    String claims = new String(Base64.getUrlDecoder().decode(parts[1]), UTF_8);
    String bob = encoded(claims.replace("\"sub\":\"alice\"", "\"sub\":\"bob\""));

    assertInvalid(parts[0] + "." + bob + "." + parts[2], "The token is not valid");
    assertInvalid(encoded("{\"alg\":\"none\"}") + "." + parts[1] + ".", "The token is not valid");
    assertInvalid(parts[0] + "." + parts[1] + ".", "The token is not valid");
    assertInvalid(signedByAnother(JwtClaims.parse(claims)), "The token is not valid");
    assertInvalid(signedWithSecret(JwtClaims.parse(claims)), "The token is not valid");
    JwtClaims foreign = JwtClaims.parse(claims);
    foreign.setIssuer("https://evil.example");
    assertInvalid(signedByAnother(foreign), "The token's issuer is not known here");
    assertInvalid("e30.e30.", "The token's issuer is not known here");
    for (String text : List.of("", "a.b.c", "hf_abc", "..", "a.".repeat(1000))) {
      assertInvalid(text, "The token is malformed");
    }
  }

  private static String encoded(String text) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(UTF_8));
  }

  private static String signedByAnother(JwtClaims claims) throws JoseException {
    RsaJsonWebKey key = RsaJwkGenerator.generateJwk(2048);
    key.setKeyId("another");
    JsonWebSignature signature = new JsonWebSignature();
    signature.setKey(key.getPrivateKey());
    signature.setKeyIdHeaderValue(key.getKeyId());
    signature.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
    signature.setPayload(claims.toJson());
    return signature.getCompactSerialization();
  }

  /** A public key must never be taken for a shared secret. */
  private static String signedWithSecret(JwtClaims claims) throws JoseException {
    JsonWebSignature signature = new JsonWebSignature();
    signature.setKey(new HmacKey("0123456789abcdef0123456789abcdef".getBytes(UTF_8)));
    signature.setAlgorithmHeaderValue(AlgorithmIdentifiers.HMAC_SHA256);
    signature.setPayload(claims.toJson());
    return signature.getCompactSerialization();
  }

  @Test
  void shouldGoOnWithKnownKeysWhileTheIssuerIsAwayAndFollowItsNewOnes() {
    String known = provider.token("alice", RESOURCE, "tools");
    String later = provider.token("bob", RESOURCE, "tools");
    assertThat(tokens.caller(known, HERE, CLIENT).principal().subject()).isEqualTo("alice");
    assertThat(tokens.problems()).containsValue(Optional.empty());
    provider.close();

    assertThat(tokens.caller(later, HERE, CLIENT).principal().subject()).isEqualTo("bob");
    AccessTokens started = tokens();
    assertThatThrownBy(() -> started.caller(known, HERE, CLIENT))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);
    assertThat(started.problems().get(provider.issuer()))
        .get()
        .asString()
        .contains("cannot be read");

    provider = OpenIdProvider.start(provider.port());
    String rotated = provider.token("alice", RESOURCE, "tools");
    await()
        .ignoreException(TokenRefusedException.Invalid.class)
        .untilAsserted(() ->
            assertThat(tokens.caller(rotated, HERE, CLIENT).principal().subject())
                .isEqualTo("alice"));
    await()
        .ignoreExceptionsInstanceOf(TokenRefusedException.class)
        .untilAsserted(() ->
            assertThat(started.caller(rotated, HERE, CLIENT).principal().subject())
                .isEqualTo("alice"));
    assertThat(started.problems()).containsValue(Optional.empty());
    assertInvalid(signedByAnotherOfIssuer(), "The token is not valid");
  }

  private String signedByAnotherOfIssuer() {
    try {
      JwtClaims claims = new JwtClaims();
      claims.setIssuer(provider.issuer());
      claims.setSubject("alice");
      claims.setAudience(RESOURCE);
      claims.setExpirationTimeMinutesInTheFuture(5);
      return signedByAnother(claims);
    } catch (JoseException e) {
      throw new IllegalStateException(e);
    }
  }
}

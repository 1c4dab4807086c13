package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import io.vertx.core.Vertx;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Opaque tokens of a real provider, which only it can check. */
class OpaqueTokensIT {

  private static final String RESOURCE = "https://mcp.example.com/mcp";
  private static final String CLIENT = "192.0.2.0/24";
  private static final Set<String> HERE = Set.of(RESOURCE);
  private static final String SCOPES = "tools opaque";
  private static final String COUNTDOWN =
      "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":"
          + "\"countdown\",\"arguments\":{\"from\":600},\"_meta\":{\"progressToken\":8}}}";
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

  @AutoClose private OpenIdProvider provider = OpenIdProvider.start();
  @AutoClose private Vertx vertx = Vertx.vertx();
  private final JsonHttp http = new JsonHttp(vertx, TokenIssuer.TIMEOUT, _ -> {});
  private final AccessTokens tokens = tokens("gateway", false, Clock.systemUTC());

  private AccessTokens tokens(String secret, boolean all, Clock clock) {
    IntrospectionSettings settings = new IntrospectionSettings(null, "gateway", secret, all);
    return new AccessTokens(List.of(new TokenIssuer(provider.issuer(), settings, http)), clock);
  }

  private void assertInvalid(String token, String reason) {
    assertThatThrownBy(() -> tokens.caller(token, HERE, CLIENT))
        .isInstanceOf(TokenRefusedException.Invalid.class)
        .hasMessage(reason);
  }

  @Test
  void shouldTellSubjectScopesAndExpiry() {
    String token = provider.token("alice", RESOURCE, SCOPES);

    Caller alice = tokens.caller(token, HERE, CLIENT);

    assertThat(token).doesNotContain(".");
    assertThat(alice.principal()).isEqualTo(new Principal(provider.issuer(), "alice"));
    assertThat(alice.scopes()).containsExactlyInAnyOrder("tools", "opaque");
    assertThat(Objects.requireNonNull(alice.token()).expires())
        .isBetween(Instant.now().plusSeconds(500), Instant.now().plusSeconds(700));
    assertThat(tokens.problems()).containsValue(Optional.empty());
  }

  @Test
  void shouldTakeBothKindsOfTokensOfOneSubject() {
    Caller opaque = tokens.caller(provider.token("alice", RESOURCE, SCOPES), HERE, CLIENT);
    Caller signed = tokens.caller(provider.token("alice", RESOURCE, "tools"), HERE, CLIENT);

    assertThat(opaque.principal()).isEqualTo(signed.principal());
  }

  @Test
  void shouldRefuseWhatTheIssuerDoesNotKnowAndTokensForAnotherResource() {
    assertInvalid("no-token-of-anybody", "The token is not active");
    assertInvalid(
        provider.token("alice", "https://mcp.example.com/servers/other/mcp", SCOPES),
        "The token is for another resource");
    assertInvalid(provider.token("alice", RESOURCE, SCOPES) + "x", "The token is not active");
  }

  @Test
  void shouldRefuseAnExpiredTokenAlsoWhenItWasValidBefore() {
    String brief = provider.token("brief", RESOURCE, SCOPES);
    assertThat(tokens.caller(brief, HERE, CLIENT).principal().subject()).isEqualTo("brief");

    await()
        .atMost(Duration.ofSeconds(25)) // Less than a token is remembered.
        .untilAsserted(() -> assertInvalid(brief, "The token is not active"));
  }

  @Test
  void shouldNoticeThatATokenWasRevoked() {
    ShiftedClock clock = new ShiftedClock();
    AccessTokens checked = tokens("gateway", false, clock);
    String token = provider.token("alice", RESOURCE, SCOPES);
    assertThat(checked.caller(token, HERE, CLIENT).principal().subject()).isEqualTo("alice");
    provider.revoke("alice", token);
    assertThat(checked.caller(token, HERE, CLIENT).principal().subject()).isEqualTo("alice");

    clock.shift = Duration.ofSeconds(31);

    assertThatThrownBy(() -> checked.caller(token, HERE, CLIENT))
        .hasMessage("The token is not active");
  }

  @Test
  void shouldAskAboutAllTokensIfConfigured() {
    AccessTokens all = tokens("gateway", true, Clock.systemUTC());
    String signed = provider.token("alice", RESOURCE, "tools");

    // This provider keeps no record of signed tokens, and answers with an error.
    assertThatThrownBy(() -> all.caller(signed, HERE, CLIENT))
        .hasMessage("The token is not active");
    assertThat(tokens.caller(signed, HERE, CLIENT).principal().subject()).isEqualTo("alice");
    String opaque = provider.token("alice", RESOURCE, SCOPES);
    assertThat(all.caller(opaque, HERE, CLIENT).principal().subject()).isEqualTo("alice");
  }

  @Test
  void shouldTellThatTheIssuerRefusesTheGateway() {
    AccessTokens wrong = tokens("wrong", false, Clock.systemUTC());
    String token = provider.token("alice", RESOURCE, SCOPES);

    assertThatThrownBy(() -> wrong.caller(token, HERE, CLIENT))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("status 401")
        .hasMessageNotContainingAny("wrong", token);
    assertThat(wrong.problems().get(provider.issuer())).get().asString().contains("status 401");
  }

  @Test
  void shouldGoOnWhenTheIssuerIsBack() {
    String known = provider.token("alice", RESOURCE, SCOPES);
    assertThat(tokens.caller(known, HERE, CLIENT).principal().subject()).isEqualTo("alice");
    String unknown = provider.token("alice", RESOURCE, SCOPES);
    provider.close();

    assertThat(tokens.caller(known, HERE, CLIENT).principal().subject()).isEqualTo("alice");
    assertThatThrownBy(() -> tokens.caller(unknown, HERE, CLIENT))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);
    assertThat(tokens.problems().get(provider.issuer())).isPresent();

    provider = OpenIdProvider.start(provider.port());
    String later = provider.token("bob", RESOURCE, SCOPES);
    await()
        .ignoreException(TokenRefusedException.IssuerAway.class)
        .untilAsserted(() ->
            assertThat(tokens.caller(later, HERE, CLIENT).principal().subject()).isEqualTo("bob"));
    assertThat(tokens.problems()).containsValue(Optional.empty());
  }

  private Map<String, String> settings(String recheckInterval) {
    String name = "holdfast.auth.issuers.corp.";
    return Map.of(
        "holdfast.auth.public-url",
        "https://mcp.example.com",
        "holdfast.auth.recheck-interval",
        recheckInterval,
        name + "url",
        provider.issuer(),
        name + "introspection.client-id",
        "gateway",
        name + "introspection.client-secret",
        "gateway");
  }

  /** Streams are as old as the longest call; a stolen token would be good for all that time. */
  @Test
  void shouldEndStreamsWithTheirTokens() {
    try (Gateway gateway = Gateway.start(settings("1s"));
        Gateway lax = Gateway.start(settings("0s"))) {
      McpClient alice = McpClient.at(gateway.url(), token("alice"));
      McpClient brief = McpClient.at(gateway.url(), token("brief"));
      McpClient outlasting = McpClient.at(lax.url(), token("brief"));
      FrameStream kept = outlasting.stream(COUNTDOWN);
      FrameStream listening = alice.listen();
      FrameStream call = alice.stream(COUNTDOWN);
      assertThat(call.event().id()).isNotEmpty();
      String cursor = call.lastEventId();
      FrameStream expiring = brief.stream(COUNTDOWN);

      provider.revoke("alice", alice.key().value());
      for (FrameStream each : List.of(listening, call, expiring)) {
        // A token is remembered for 30 s.
        await()
            .atMost(Duration.ofSeconds(60))
            .until(() -> each.raw().contains(": the access token is no longer valid"));
      }

      assertThat(alice.resume(cursor).status()).isEqualTo(401);
      McpClient renewed = alice.with(token("alice"));
      assertThat(renewed.resume(cursor).event("T-")).contains("notifications/progress");
      assertThat(outlasting.post(PING).statusCode()).isEqualTo(401);
      // After 40 s, and a brief token lives for a few.
      assertThat(kept.event("T-560")).contains("notifications/progress");
    }
  }

  @Test
  void shouldLetClientsInWithOpaqueTokens() {
    try (Gateway gateway = Gateway.start(settings("1m"))) {
      McpClient alice = McpClient.at(gateway.url(), token("alice"));
      AccessKey bob = token("bob");
      assertThat(alice.ask(PING)).contains("\"result\"");
      assertThat(open(gateway, bob).statusCode()).isEqualTo(200);
      assertThat(alice.with(bob).post(PING).statusCode()).isEqualTo(404);
      AccessKey signed = new AccessKey(provider.token("alice", RESOURCE, "tools"));
      assertThat(alice.with(signed).ask(PING)).contains("\"result\"");
      HttpResponse<String> refused = open(gateway, new AccessKey("unknown"));
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.headers().firstValue("WWW-Authenticate").orElseThrow())
          .contains("error=\"invalid_token\"", "resource_metadata=");

      provider.close();
      assertThat(alice.ask(PING)).contains("\"result\"");
      assertThat(open(gateway, new AccessKey("another")).statusCode()).isEqualTo(503);
      assertThat(gateway.output())
          .contains("tokens cannot be checked")
          .doesNotContain(alice.key().value(), bob.value());
    }
  }

  private AccessKey token(String subject) {
    return new AccessKey(provider.token(subject, RESOURCE, SCOPES));
  }

  private static HttpResponse<String> open(Gateway gateway, AccessKey token) {
    return McpClient.at(gateway.url(), token).initialized();
  }

  private static final class ShiftedClock extends Clock {

    private volatile Duration shift = Duration.ZERO;

    @Override
    public Instant instant() {
      return Instant.now().plus(shift);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}

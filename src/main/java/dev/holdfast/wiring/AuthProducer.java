package dev.holdfast.wiring;

import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.ProtectedResources;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.auth.TokenIssuer;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.upstream.http.ClientTls;
import dev.holdfast.wiring.config.CurrentConfig;
import dev.holdfast.wiring.config.TlsConfigurations;
import io.vertx.core.Vertx;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.URI;
import java.time.Clock;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Reads who may use the gateway. */
@Singleton
final class AuthProducer {

  /** The part of the heap for tokens that servers get. */
  private static final int TOKENS_PART = 32;

  @Produces @Singleton final AccessKeys keys;
  @Produces @Singleton final AccessTokens tokens;
  @Produces @Singleton final ProtectedResources resources;
  @Produces @Singleton final RequiredScopes scopes;

  @Produces @Singleton
  final ClientTokens clientTokens =
      new ClientTokens(Runtime.getRuntime().maxMemory() / TOKENS_PART, InstantSource.system());

  /** The issuers by their configured names. */
  private final Map<String, TokenIssuer> issuers = new TreeMap<>();

  AuthProducer(CurrentConfig current, AuthConfig config, TlsConfigurations tls, Vertx vertx) {
    keys = new AccessKeys(config.keys());
    config.issuers().forEach((name, issuer) -> issuers.put(name, issuer(issuer, tls, vertx)));
    tokens = new AccessTokens(List.copyOf(issuers.values()), Clock.systemUTC());
    resources = new ProtectedResources(config.publicUrl().map(URI::toString).orElse(""));
    scopes = new RequiredScopes(current::endpointScope);
  }

  TokenIssuer issuer(String name) {
    return Objects.requireNonNull(issuers.get(name));
  }

  private static TokenIssuer issuer(AuthConfig.Issuer issuer, TlsConfigurations tls, Vertx vertx) {
    ClientTls certificates =
        issuer
            .tls()
            .map(name -> tls.named("The key tls of an issuer", name))
            .orElse(TlsConfigurations.NONE);
    JsonHttp http = new JsonHttp(vertx, TokenIssuer.TIMEOUT, certificates::configure);
    var _ = certificates.onRenewal(http::renew);
    return new TokenIssuer(issuer.url().toString(), issuer.introspection().orElse(null), http);
  }
}

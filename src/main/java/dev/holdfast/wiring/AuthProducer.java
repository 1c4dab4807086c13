package dev.holdfast.wiring;

import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.ClientTokens;
import dev.holdfast.auth.IntrospectionSettings;
import dev.holdfast.auth.IssuerSettings;
import dev.holdfast.auth.ProtectedResources;
import dev.holdfast.auth.RequiredScopes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.URI;
import java.time.Clock;
import java.time.InstantSource;
import java.util.stream.Collectors;

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

  /** Creates them for a configuration that was checked. */
  AuthProducer(CurrentConfig current, AuthConfig config, TlsConfigurations tls) {
    keys = new AccessKeys(config.keys());
    tokens =
        new AccessTokens(
            config.issuers().values().stream()
                .collect(
                    Collectors.toMap(
                        issuer -> issuer.url().toString(),
                        issuer -> settings(issuer, tls),
                        (_, last) -> last)),
            Clock.systemUTC());
    resources = new ProtectedResources(config.publicUrl().map(URI::toString).orElse(""));
    scopes = new RequiredScopes(current::scope);
  }

  private static IssuerSettings settings(AuthConfig.Issuer issuer, TlsConfigurations tls) {
    return new IssuerSettings(
        issuer.introspection().map(AuthProducer::settings).orElse(null),
        issuer.tls().map(name -> tls.sockets("The key tls of an issuer", name)).orElse(null));
  }

  private static IntrospectionSettings settings(AuthConfig.Introspection configured) {
    return new IntrospectionSettings(
        configured.endpoint().orElse(null),
        configured.clientId(),
        configured.clientSecret(),
        configured.tokens() == AuthConfig.Tokens.ALL);
  }
}

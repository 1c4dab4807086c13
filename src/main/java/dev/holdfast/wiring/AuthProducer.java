package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.RequiredScopes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;

/** Reads who may use the gateway. */
@Singleton
final class AuthProducer {

  @Produces @Singleton final AccessKeys keys;
  @Produces @Singleton final RequiredScopes scopes;

  /** Creates them for a configuration that was checked. */
  AuthProducer(CheckedConfig checked, AuthConfig config) {
    keys = new AccessKeys(config);
    scopes = scopes(checked.gateway());
  }

  private static RequiredScopes scopes(GatewayConfig gateway) {
    Map<String, String> scopes = new HashMap<>();
    gateway
        .allUpstreams()
        .forEach((name, server) -> server.scope().ifPresent(scope -> scopes.put(name, scope)));
    gateway.agent().scope().ifPresent(scope -> scopes.put(AgentUpstream.NAME, scope));
    return new RequiredScopes(scopes);
  }
}

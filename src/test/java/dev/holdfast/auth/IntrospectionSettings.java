package dev.holdfast.auth;

import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a test wants an issuer to be asked about tokens. */
record IntrospectionSettings(
    Optional<URI> endpoint, String clientId, String clientSecret, AuthConfig.Tokens tokens)
    implements AuthConfig.Introspection {

  /**
   * Asks about opaque tokens or all.
   *
   * @param endpoint null for the one in the metadata
   */
  IntrospectionSettings(@Nullable URI endpoint, String clientId, String secret, boolean all) {
    this(
        Optional.ofNullable(endpoint),
        clientId,
        secret,
        all ? AuthConfig.Tokens.ALL : AuthConfig.Tokens.OPAQUE);
  }
}

package dev.holdfast.auth;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Callers that may use the gateway. Without keys and issuers, everybody who reaches its port. */
@ConfigMapping(prefix = "holdfast.auth")
public interface AuthConfig {

  /** Keys by the names of their owners. */
  Map<String, Key> keys();

  /** Authorization servers whose access tokens may use the gateway, by a name for the log. */
  Map<String, Issuer> issuers();

  /**
   * URL at which clients reach the gateway, such as {@code https://mcp.example.com}. Tokens are for
   * a URL below it.
   */
  Optional<URI> publicUrl();

  /**
   * Interval at which the token of an open stream is checked again. The stream ends with its token.
   * {@code 0s}: it outlives the token.
   */
  @WithDefault("1m")
  @Range(min = "0s", max = "1d")
  Duration recheckInterval();

  /** An authorization server. */
  interface Issuer {

    /** The URL that names it, as in its tokens. */
    URI url();

    /**
     * Questions about tokens that are no JSON Web Tokens. Without them, such tokens are refused.
     */
    Optional<Introspection> introspection();

    /** Name of the TLS configuration of connections to it. */
    Optional<String> tls();
  }

  /** Introspection of tokens (RFC 7662). */
  interface Introspection {

    /** URL to ask. Without it, the metadata of the server tells. */
    Optional<URI> endpoint();

    /** Id of the gateway at the server. */
    String clientId();

    /** Secret that proves the id. */
    String clientSecret();

    /** Tokens to ask about. */
    @WithDefault("opaque")
    Tokens tokens();
  }

  /** Tokens about which their issuer is asked. */
  enum Tokens {
    /** Those that are no JSON Web Tokens. */
    OPAQUE,
    /** All, so that a revoked JSON Web Token is refused before it expires. */
    ALL
  }

  /** A key. */
  interface Key {

    /** The {@link AccessKey#hash} of the key, which the command {@code key} prints. */
    String hash();

    /** Scopes of the key, for upstreams that require some. */
    Optional<List<String>> scopes();
  }
}

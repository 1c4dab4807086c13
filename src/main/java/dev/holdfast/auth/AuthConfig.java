package dev.holdfast.auth;

import io.smallrye.config.ConfigMapping;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who may use the gateway. Without keys and issuers, everybody who reaches its port. */
@ConfigMapping(prefix = "holdfast.auth")
public interface AuthConfig {

  /** Keys by the names of their owners. */
  Map<String, Key> keys();

  /** Authorization servers whose access tokens may use the gateway, by a name for the log. */
  Map<String, Issuer> issuers();

  /**
   * Where clients reach the gateway, such as {@code https://mcp.example.com}. Tokens are for a URL
   * below it.
   */
  Optional<URI> publicUrl();

  /** An authorization server. */
  interface Issuer {

    /** The URL that names it, as in its tokens. */
    URI url();
  }

  /** A key. */
  interface Key {

    /** The {@link AccessKey#hash} of the key, which the command {@code key} prints. */
    String hash();

    /** What the key may use besides the upstreams that require no scope. */
    Optional<List<String>> scopes();
  }
}

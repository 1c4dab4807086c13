package dev.holdfast.auth;

import io.smallrye.config.ConfigMapping;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who may use the gateway. Without keys, everybody who reaches its port. */
@ConfigMapping(prefix = "holdfast.auth")
public interface AuthConfig {

  /** Keys by the names of their owners. */
  Map<String, Key> keys();

  /** A key. */
  interface Key {

    /** The {@link AccessKey#hash} of the key, which the command {@code key} prints. */
    String hash();

    /** What the key may use besides the upstreams that require no scope. */
    Optional<List<String>> scopes();
  }
}

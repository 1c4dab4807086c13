package dev.holdfast.console.access;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/** Operators who sign in to the console. */
@ConfigMapping(prefix = "holdfast.operators")
public interface OperatorsConfig {

  /**
   * URL of the console for those who sign in, such as {@code https://mcp.example.com/console/}. It
   * answers only under this name, and below its path.
   */
  Optional<URI> consoleUrl();

  /** Ports that serve the console. */
  enum Port {
    /** Only the port of health and metrics. */
    MANAGEMENT,
    /** The port for clients, too: below the path of the {@link #consoleUrl}. */
    MAIN
  }

  /** Port that serves the console to operators who sign in. */
  @WithDefault("management")
  Port port();

  /** Id of the gateway at the issuer where operators sign in. Without it, they need a key. */
  Optional<String> clientId();

  /** Secret that proves the id. */
  Optional<String> clientSecret();

  /** Name of the issuer among {@code holdfast.auth.issuers}, if there are several. */
  Optional<String> issuer();

  /** Claim of the ID token that names the rights, in place of the granted scopes. */
  Optional<String> claim();

  /** Beginning of the scopes that give rights. */
  @WithDefault("holdfast:")
  String scopePrefix();

  /** Time after which operators sign in again. Rights that were taken from them end by then. */
  @WithDefault("1h")
  @Range(min = "1m", max = "1d")
  Duration signInLife();

  /** True to show messages of calls to operators with the right. */
  @WithDefault("false")
  boolean messages();
}

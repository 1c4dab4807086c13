package dev.holdfast.auth;

import dev.holdfast.oauth.JsonHttp;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to reach an authorization server, and what to ask it.
 *
 * @param introspection how to ask it about tokens; null to accept only those that can be checked
 *     here
 * @param http sends requests to it, within {@link #TIMEOUT}. To an issuer over TLS it sends them
 *     over TLS only: others could replace the keys, and read tokens and secrets
 */
public record IssuerSettings(AuthConfig.@Nullable Introspection introspection, JsonHttp http) {

  /** Time limit of a request. */
  public static final Duration TIMEOUT = Duration.ofSeconds(3);
}

package dev.holdfast.auth;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The scopes that upstreams require.
 *
 * @param byUpstream scopes by the name of their upstream; other upstreams require none
 */
public record RequiredScopes(Map<String, String> byUpstream) {

  /** RFC 6749, section 3.3. */
  private static final Pattern SCOPE = Pattern.compile("[!#-\\[\\]-~]+");

  /** Copies the map. */
  public RequiredScopes {
    byUpstream = Map.copyOf(byUpstream);
  }

  /** Whether a text can be the name of a scope. */
  public static boolean isScope(String text) {
    return SCOPE.matcher(text).matches();
  }

  /** The scope that a principal lacks to use an upstream; empty when it may use it. */
  public Optional<String> missing(String upstream, Principal principal) {
    String required = byUpstream.get(upstream);
    return required == null || principal.scopes().contains(required)
        ? Optional.empty()
        : Optional.of(required);
  }
}

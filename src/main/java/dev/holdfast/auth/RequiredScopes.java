package dev.holdfast.auth;

import dev.holdfast.call.Caller;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The scopes that upstreams require.
 *
 * @param byUpstream returns the scope of an upstream; empty if it requires none
 */
public record RequiredScopes(Function<String, Optional<String>> byUpstream) {

  /** RFC 6749, section 3.3. */
  private static final Pattern SCOPE = Pattern.compile("[!#-\\[\\]-~]+");

  /** Returns true if a text can be the name of a scope. */
  public static boolean isScope(String text) {
    return SCOPE.matcher(text).matches();
  }

  /** The scope that a caller lacks to use an upstream; empty when it may use it. */
  public Optional<String> missing(String upstream, Caller caller) {
    return byUpstream.apply(upstream).filter(required -> !caller.scopes().contains(required));
  }
}

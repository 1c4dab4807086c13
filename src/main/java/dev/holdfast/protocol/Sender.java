package dev.holdfast.protocol;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a message to a server, and what goes with it.
 *
 * @param principal the issuer and the subject of the client; null when the gateway does not ask who
 *     sends
 * @param scopes those of the client's scopes that the rules of the server name
 * @param headers headers of the client's request that go to the server
 * @param token the client's access token, for servers that need it; null for others
 */
public record Sender(
    @Nullable String principal,
    Set<String> scopes,
    ForwardedHeaders headers,
    @Nullable ClientToken token) {

  /** A sender of which nothing is known. It may do what everybody may. */
  public static final Sender UNKNOWN = new Sender(null, Set.of(), ForwardedHeaders.NONE);

  /** Copies the scopes. */
  public Sender {
    scopes = Set.copyOf(scopes);
  }

  /** A sender without a token for the server. */
  public Sender(@Nullable String principal, Set<String> scopes, ForwardedHeaders headers) {
    this(principal, scopes, headers, null);
  }

  /** The same sender with other scopes. */
  public Sender withScopes(Set<String> others) {
    return new Sender(principal, others, headers, token);
  }

  /** The same sender with other headers. */
  public Sender with(ForwardedHeaders others) {
    return new Sender(principal, scopes, others, token);
  }

  /** The same sender with a token. */
  public Sender with(@Nullable ClientToken other) {
    return new Sender(principal, scopes, headers, other);
  }

  /** The scopes in alphabetical order, with a space between them (RFC 6749, section 3.3). */
  public static String format(Set<String> scopes) {
    return String.join(" ", new TreeSet<>(scopes));
  }

  /** Parses what {@link #format} returned. */
  public static Set<String> parse(String scopes) {
    return scopes.isEmpty() ? Set.of() : Set.of(scopes.split(" "));
  }
}

package dev.holdfast.upstream;

import java.util.Set;

/**
 * Traits of a server.
 *
 * @param forwardedHeaders the headers of clients that it gets, by name in lower case
 * @param namedScopes the scopes of clients that decide what they may do
 * @param takesClientToken whether it gets, or is shown something for, the access tokens of clients
 * @param needsClientToken whether it is of no use without
 * @param canReopen whether a lost session can be opened again with what the gateway keeps: a
 *     {@linkplain Placement.Pinned pinned} one by {@link Upstream#reopen}, any other by the
 *     upstream itself
 * @param opensSessions whether it opens new sessions. One that was removed only serves those it has
 */
public record Profile(
    Set<String> forwardedHeaders,
    Set<String> namedScopes,
    boolean takesClientToken,
    boolean needsClientToken,
    boolean canReopen,
    boolean opensSessions) {

  /** A server that gets nothing of its clients but their messages. */
  public static final Profile PLAIN = of(Set.of(), false, false);

  /** The same traits of an upstream whose lost sessions can be opened again. */
  public Profile reopening() {
    return new Profile(
        forwardedHeaders, namedScopes, takesClientToken, needsClientToken, true, opensSessions);
  }

  /** A server in another process. */
  public static Profile of(Set<String> forwarded, boolean needsClientToken, boolean canReopen) {
    return new Profile(forwarded, Set.of(), needsClientToken, needsClientToken, canReopen, true);
  }
}

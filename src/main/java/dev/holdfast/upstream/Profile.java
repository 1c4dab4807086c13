package dev.holdfast.upstream;

import java.util.Set;

/**
 * Traits of a server.
 *
 * @param forwardedHeaders the headers of clients that it gets, by name in lower case
 * @param namedScopes the scopes of clients that decide what they may do
 * @param needsClientToken whether it gets, or is shown something for, the access tokens of clients
 * @param runsInProcess whether a call runs inside the process that made it. Messages to a call
 *     (cancellations, and answers to its requests) must then reach that process. Each process with
 *     calls of the session gets each message once and ignores messages for other processes. So the
 *     ids of a server's requests must differ between processes
 * @param canReopen whether a lost {@linkplain Placement#pinned pinned} session can be opened again
 * @param opensSessions whether it opens new sessions. One that was removed only serves those it has
 */
public record Profile(
    Set<String> forwardedHeaders,
    Set<String> namedScopes,
    boolean needsClientToken,
    boolean runsInProcess,
    boolean canReopen,
    boolean opensSessions) {

  /** A server that gets nothing of its clients but their messages. */
  public static final Profile PLAIN = of(Set.of(), false, false);

  /** A server in another process. */
  public static Profile of(Set<String> forwarded, boolean needsClientToken, boolean canReopen) {
    return new Profile(forwarded, Set.of(), needsClientToken, false, canReopen, true);
  }
}

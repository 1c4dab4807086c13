package dev.holdfast.merge;

import dev.holdfast.call.Caller;
import java.util.Optional;

/** Scopes and limits of the servers of an endpoint, which hold there as at their own paths. */
public interface ServerRules {

  /** Scope that a server requires; empty if it requires none. */
  Optional<String> scope(String server);

  /** Returns true if a caller may use a server. */
  boolean mayUse(String server, Caller caller);

  /**
   * Counts a request to a server until its answer begins.
   *
   * @return false if the server has as many requests as it may have; none is counted then
   */
  boolean tryEnter(String server);

  /** Ends a counted request. */
  void leave(String server);
}

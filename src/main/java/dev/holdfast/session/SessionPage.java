package dev.holdfast.session;

import java.util.List;
import java.util.Optional;

/**
 * One page of a list of sessions.
 *
 * @param entries in no particular order
 * @param next where the next page begins, for {@link SessionStore#list}; empty on the last page
 */
public record SessionPage(List<Entry> entries, Optional<String> next) {

  /** Copies the entries. */
  public SessionPage {
    entries = List.copyOf(entries);
  }

  /**
   * A session.
   *
   * @param activity as the replicas last recorded it, at most some minutes ago
   */
  public record Entry(Session session, SessionActivity activity) {}
}

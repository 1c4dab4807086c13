package dev.holdfast.session;

import java.util.List;
import java.util.Optional;

/**
 * Some of the sessions in a store.
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
   * @param activity as of when its replicas last wrote it: some minutes ago at most
   */
  public record Entry(Session session, SessionActivity activity) {}
}

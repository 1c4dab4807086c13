package dev.holdfast.cli;

import dev.holdfast.call.SessionId;
import dev.holdfast.session.SessionStore;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Visits the sessions of a store in pages. */
record SessionPages(SessionStore store) {

  private static final int PAGE = 100;

  /** Visits every session once, although a page may repeat sessions of an earlier page. */
  void forEachPage(Consumer<List<SessionStore.Page.Entry>> action) {
    Set<SessionId> visited = new HashSet<>();
    Optional<String> from = Optional.empty();
    do {
      SessionStore.Page page = store.list(from.orElse(null), PAGE);
      action.accept(
          page.entries().stream().filter(entry -> visited.add(entry.session().id())).toList());
      from = page.next();
    } while (from.isPresent());
  }

  void forEach(Consumer<SessionStore.Page.Entry> action) {
    forEachPage(page -> page.forEach(action));
  }
}

package dev.holdfast.cli;

import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.SessionStore;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Runs {@code holdfast sessions}: lists the sessions in the store. */
final class SessionsCommand {

  private static final int PAGE = 100;
  private static final String ROW = "%-43s  %-24s  %-24s  %8s  %-15s  %s";

  private final SessionStore sessions;
  private final Output output;

  SessionsCommand(SessionStore sessions, Output output) {
    this.sessions = sessions;
    this.output = output;
  }

  ExitCode run() {
    output.header(ROW.formatted("SESSION", "CREATED", "LAST USED", "REQUESTS", "FROM", "CLIENT"));
    forEach(sessions, this::print);
    return ExitCode.SUCCESS;
  }

  /** Visits every session once, although a page may repeat sessions of an earlier page. */
  static void forEach(SessionStore sessions, Consumer<SessionPage.Entry> action) {
    Set<SessionId> visited = new HashSet<>();
    Optional<String> from = Optional.empty();
    do {
      SessionPage page = sessions.list(from.orElse(null), PAGE);
      page.entries().stream().filter(entry -> visited.add(entry.session().id())).forEach(action);
      from = page.next();
    } while (from.isPresent());
  }

  private void print(SessionPage.Entry entry) {
    Session session = entry.session();
    SessionActivity activity = entry.activity();
    output.result(
        Output.object()
            .put("session", session.id().value())
            .put("created", session.created().toString())
            .put("lastUsed", activity.lastUsed().toString())
            .put("requests", activity.requests())
            .put("errors", activity.errors())
            .put("address", activity.address())
            .put("upstream", session.upstream())
            .put("protocolVersion", session.version().wire())
            .put("client", session.client()),
        ROW.formatted(
            session.id().value(),
            session.created(),
            activity.lastUsed(),
            activity.requests(),
            Objects.requireNonNullElse(activity.address(), "-"),
            // The client chooses its name, and must not control the terminal with it.
            session.client().replaceAll("\\p{Cntrl}", "?")));
  }
}

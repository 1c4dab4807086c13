package dev.holdfast.cli;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.SessionStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs {@code holdfast sessions}, {@code holdfast streams} and {@code holdfast purge}. */
final class StoreCommands {

  private static final int PAGE = 100;
  private static final String SESSION_ROW = "%-43s  %-24s  %-24s  %8s  %-15s  %s";
  private static final String STREAM_ROW = "%-43s  %-12s  %-8s  %6s  %s";

  private final SessionStore sessions;
  private final Output output;

  StoreCommands(SessionStore sessions, Output output) {
    this.sessions = sessions;
    this.output = output;
  }

  /** Lists the sessions in the store. */
  ExitCode listSessions() {
    output.header(
        SESSION_ROW.formatted("SESSION", "CREATED", "LAST USED", "REQUESTS", "FROM", "CLIENT"));
    forEachSession(this::print);
    return ExitCode.SUCCESS;
  }

  /** Visits every session once, although a page may repeat sessions of an earlier page. */
  private void forEachSession(Consumer<SessionPage.Entry> action) {
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
        SESSION_ROW.formatted(
            session.id().value(),
            session.created(),
            activity.lastUsed(),
            activity.requests(),
            Objects.requireNonNullElse(activity.address(), "-"),
            // The client chooses its name, and must not control the terminal with it.
            session.client().replaceAll("\\p{Cntrl}", "?")));
  }

  /**
   * Lists streams.
   *
   * @param session session whose streams are listed; null for all sessions
   */
  ExitCode listStreams(StreamIndex streams, @Nullable SessionId session) {
    if (session != null && sessions.find(session).isEmpty()) {
      output.note("There is no such session, or it has ended.");
      return ExitCode.PROBLEM;
    }
    output.header(STREAM_ROW.formatted("SESSION", "STREAM", "STATE", "EVENTS", "LAST EVENT"));
    if (session != null) {
      printStreams(streams, session);
    } else {
      forEachSession(entry -> printStreams(streams, entry.session().id()));
    }
    return ExitCode.SUCCESS;
  }

  private void printStreams(StreamIndex streams, SessionId session) {
    boolean more = true;
    for (long skip = 0; more; skip += PAGE) {
      StreamIndex.Page page = streams.list(session.value(), skip, PAGE);
      page.streams().forEach(this::print);
      more = page.more();
    }
  }

  private void print(StreamIndex.Entry entry) {
    String session = entry.stream().session();
    String name = entry.stream().name();
    String state = entry.open() ? "open" : "complete";
    String lastEventId = name + "_" + entry.last();
    output.result(
        Output.object()
            .put("session", session)
            .put("stream", name)
            .put("state", state)
            .put("events", entry.kept())
            .put("lastEventId", lastEventId)
            .put("owner", entry.owner()),
        STREAM_ROW.formatted(session, name, state, entry.kept(), lastEventId));
  }

  /** Ends sessions in the store and at their upstreams. */
  ExitCode purge(Relay relay, Command.Scope scope) {
    return switch (scope) {
      case Command.Scope.One(SessionId id) -> {
        Sessions.EndReport report =
            sessions.find(id).map(relay::end).orElse(Sessions.EndReport.NONE);
        ExitCode code = print(report);
        yield report.sessions() == 1 ? code : ExitCode.PROBLEM;
      }
      case Command.Scope.Expired _ -> print(relay.sweep());
      case Command.Scope.All _ -> {
        List<Session> found = new ArrayList<>();
        forEachSession(entry -> found.add(entry.session()));
        yield print(
            found.stream()
                .map(relay::end)
                .reduce(Sessions.EndReport.NONE, Sessions.EndReport::plus)
                .plus(relay.sweep()));
      }
    };
  }

  private ExitCode print(Sessions.EndReport report) {
    long ended = report.sessions();
    long untold = report.upstreamsNotTold();
    output.result(
        Output.object().put("ended", ended).put("untold", untold),
        ended + (ended == 1 ? " session ended" : " sessions ended"));
    if (untold == 0) {
      return ExitCode.SUCCESS;
    }
    output.note(
        "The upstreams of "
            + untold
            + " of them were not told, because this command does not know them."
            + " Run it with the configuration of the gateway.");
    return ExitCode.PROBLEM;
  }
}

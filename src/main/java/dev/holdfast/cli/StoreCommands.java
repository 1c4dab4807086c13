package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.call.SessionId;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.Housekeeping;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionStore;
import jakarta.inject.Provider;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs the commands that inspect or change a shared store. */
record StoreCommands(
    StreamIndex streams,
    SessionPages sessions,
    EventLog log,
    Provider<Housekeeping> expired,
    KnownClients clients,
    Output output) {

  private static final int PAGE = 100;
  private static final String SESSION_ROW =
      "%-43s  %-12s  %-15s  %9s  %-20s  %-20s  %8s  %6s  %-15s  %-16s  %s";
  private static final String SESSION_HEADER =
      "SESSION,UPSTREAM,TRANSPORT,CONNECTED,CREATED,LAST USED,REQUESTS,ERRORS,FROM,KNOWN AS,CLIENT";
  private static final String STREAM_ROW = "%-43s  %-12s  %-8s  %6s  %s";

  private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

  ExitCode run(Command.OnSessions command) {
    return switch (command) {
      case Command.Sessions _ -> listSessions();
      case Command.Streams list -> {
        String one = list.session();
        yield one == null ? listStreams(null) : onSession(one, this::listStreams);
      }
      case Command.Tail tail -> onSession(tail.session(), session -> tail(session, tail));
      case Command.Purge purge -> {
        String one = purge.session();
        yield one == null
            ? purge(expired.get(), purge.all())
            : onSession(one, session -> purge(expired.get(), session));
      }
    };
  }

  /** Runs a command on the only session whose id begins so. */
  private ExitCode onSession(String beginning, Function<Session, ExitCode> command) {
    List<Session> found = new ArrayList<>();
    SessionId.parse(beginning)
        .ifPresentOrElse(
            id -> sessions.store().find(id).ifPresent(found::add),
            () ->
                sessions.forEach(entry -> {
                  if (entry.session().id().value().startsWith(beginning)) {
                    found.add(entry.session());
                  }
                }));
    if (found.size() == 1) {
      return command.apply(found.getFirst());
    }
    output.note(
        found.isEmpty()
            ? "There is no such session, or it has ended."
            : found.size() + " sessions begin so: give more characters of the id.");
    return ExitCode.PROBLEM;
  }

  private ExitCode listSessions() {
    output.header(SESSION_ROW.formatted((Object[]) SESSION_HEADER.split(",")));
    sessions.forEachPage(this::print);
    return ExitCode.SUCCESS;
  }

  private void print(List<SessionStore.Page.Entry> page) {
    List<List<StreamIndex.Connection>> connected =
        streams.followed(
            page.stream().map(entry -> StreamNames.key(entry.session().id())).toList());
    for (int i = 0; i < page.size(); i++) {
      print(page.get(i), connected.get(i));
    }
  }

  private void print(SessionStore.Page.Entry entry, List<StreamIndex.Connection> connected) {
    Session session = entry.session();
    SessionActivity activity = entry.activity();
    String transport = session.hasOneStream() ? "sse" : "streamable-http";
    String known = clients.find(session.userAgent(), session.client()).name();
    output.result(
        Output.object()
            .put("session", session.id().value())
            .put("created", session.created().toString())
            .put("lastUsed", activity.lastUsed().toString())
            .put("requests", activity.requests())
            .put("errors", activity.errors())
            .put("address", activity.address())
            .put("upstream", session.upstream())
            .put("transport", transport)
            .put("connected", connected.size())
            .put("protocolVersion", session.version().wire())
            .put("client", session.client())
            .put("userAgent", session.userAgent())
            .put("knownAs", known)
            .<ObjectNode>set("connections", connections(connected)),
        SESSION_ROW.formatted(
            session.id().value(),
            session.upstream(),
            transport,
            connected.size(),
            session.created().truncatedTo(ChronoUnit.SECONDS),
            activity.lastUsed().truncatedTo(ChronoUnit.SECONDS),
            activity.requests(),
            activity.errors(),
            Objects.requireNonNullElse(activity.address(), "-"),
            known,
            session.client()));
  }

  private static ArrayNode connections(List<StreamIndex.Connection> connected) {
    ArrayNode array = Output.object().arrayNode();
    for (StreamIndex.Connection each : connected) {
      Instant since = each.since();
      array
          .addObject()
          .put("stream", each.stream())
          .put("since", since == null ? null : since.truncatedTo(ChronoUnit.MILLIS).toString());
    }
    return array;
  }

  /** Lists the streams of one session; of all sessions for null. */
  private ExitCode listStreams(@Nullable Session one) {
    output.header(STREAM_ROW.formatted("SESSION", "STREAM", "STATE", "EVENTS", "LAST EVENT"));
    if (one == null) {
      sessions.forEach(entry -> printStreams(entry.session().id()));
    } else {
      printStreams(one.id());
    }
    return ExitCode.SUCCESS;
  }

  private void printStreams(SessionId session) {
    boolean more = true;
    for (long skip = 0; more; skip += PAGE) {
      StreamIndex.Page page = streams.list(StreamNames.key(session), skip, PAGE);
      page.streams().forEach(this::print);
      more = page.more();
    }
  }

  private void print(StreamIndex.Entry entry) {
    String session = entry.stream().key().value();
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

  /** Ends a session in the store and at its upstream. */
  private ExitCode purge(Housekeeping expired, Session session) {
    Sessions.EndReport ended = expired.sessions().end(session);
    print(ended);
    return ended.sessions() == 1 ? ExitCode.SUCCESS : ExitCode.PROBLEM;
  }

  /** Ends expired sessions in the store and at their upstreams, or all. */
  private ExitCode purge(Housekeeping expired, boolean all) {
    List<Session> chosen = new ArrayList<>();
    if (all) {
      sessions.forEach(entry -> chosen.add(entry.session()));
    }
    Sessions.EndReport ended =
        chosen.stream()
            .map(expired.sessions()::end)
            .reduce(Sessions.EndReport.NONE, Sessions.EndReport::plus);
    print(ended.plus(expired.sweep()));
    return ExitCode.SUCCESS;
  }

  private void print(Sessions.EndReport report) {
    long ended = report.sessions();
    long notTold = report.upstreamsNotTold();
    output.result(
        Output.object().put("ended", ended).put("untold", notTold),
        ended + (ended == 1 ? " session ended" : " sessions ended"));
    if (notTold > 0) {
      output.note(
          "The upstreams of "
              + notTold
              + " of them were not told, because this command does not know them."
              + " Run it with the configuration of the gateway.");
    }
  }

  /**
   * Prints a stream and follows it, until it is complete, its session has ended, or the thread is
   * interrupted. This polls the log. A subscription would evict the client, since a stream has one
   * tail.
   */
  private ExitCode tail(Session session, Command.Tail command) {
    String given = command.stream();
    String name = session.hasOneStream() ? StreamNames.SHARED : StreamNames.STANDALONE;
    try {
      return follow(
          StreamNames.of(session, Objects.requireNonNullElse(given, name)), command.after());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return ExitCode.SUCCESS;
    }
  }

  private ExitCode follow(StreamRef stream, Position after) throws InterruptedException {
    Position cursor = after;
    boolean found = false;
    while (true) {
      switch (log.read(stream, cursor, PAGE)) {
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {
          found = true;
          Thread.sleep(POLL_INTERVAL);
        }
        case ReadResult.Events(List<LogEvent> events) -> {
          found = true;
          events.forEach(event -> print(stream, event));
          if (events.getLast().last()) {
            return ExitCode.SUCCESS;
          }
          cursor = events.getLast().position();
        }
        case ReadResult.Gap gap -> {
          Position last = gap.resumeAfter().orElse(null);
          if (last == null) {
            output.note("All events after " + cursor + " are gone.");
            return ExitCode.PROBLEM;
          }
          output.note("The events after " + cursor + " up to " + last + " are gone.");
          cursor = last;
        }
        case ReadResult.EndOfStream _ -> {
          return ExitCode.SUCCESS;
        }
        case ReadResult.NoSuchStream _ -> {
          output.note(
              found ? "The session has ended." : "There is no such stream, or it has expired.");
          return found ? ExitCode.SUCCESS : ExitCode.PROBLEM;
        }
      }
    }
  }

  private void print(StreamRef stream, LogEvent event) {
    if (event.payload().length == 0) {
      return; // A cancelled call ends with an empty event.
    }
    String id = new EventId(stream.name(), event.position()).toString();
    String message = new String(event.payload(), UTF_8);
    output.result(
        Output.object().put("id", id).putRawValue("message", new RawValue(message)),
        id + " " + message);
  }
}

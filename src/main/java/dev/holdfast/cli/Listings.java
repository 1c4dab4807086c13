package dev.holdfast.cli;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.SessionStore;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Lists what is in the store. */
final class Listings {

  private static final int PAGE = 100;
  private static final String ROW = "%-43s  %-24s  %-24s  %8s  %-15s  %s";

  private final CommandContext equipment;
  private final SessionStore sessions;
  private final Output output;

  Listings(CommandContext equipment, SessionStore sessions, Output output) {
    this.equipment = equipment;
    this.sessions = sessions;
    this.output = output;
  }

  /** Says that there is nothing to see where each process has a store of its own. */
  static boolean isShared(CommandContext equipment, Output output) {
    boolean shared = equipment.redis().isPresent();
    if (!shared) {
      output.remark(
          "The store is the memory of the gateway: nothing of it can be seen from another process."
              + " With holdfast.store=redis (--store redis) there is.");
    }
    return shared;
  }

  ExitCode sessions(boolean json) {
    if (!isShared(equipment, output)) {
      return ExitCode.PROBLEM;
    }
    if (!json) {
      output.line(
          String.format(ROW, "SESSION", "CREATED", "LAST USED", "REQUESTS", "FROM", "CLIENT"));
    }
    forEach(sessions, entry -> print(entry, json));
    return ExitCode.FINE;
  }

  private void print(SessionPage.Entry entry, boolean json) {
    Session session = entry.session();
    SessionActivity activity = entry.activity();
    if (json) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("session", session.id().value());
      object.put("created", session.created().toString());
      object.put("lastUsed", activity.lastUsed().toString());
      object.put("requests", activity.requests());
      object.put("errors", activity.errors());
      object.put("address", activity.address());
      object.put("upstream", session.upstream());
      object.put("protocolVersion", session.version().wire());
      object.put("client", session.client());
      output.json(object);
      return;
    }
    String address = activity.address();
    output.line(
        String.format(
            ROW,
            session.id().value(),
            session.created(),
            activity.lastUsed(),
            activity.requests(),
            address == null ? "-" : address,
            printable(session.client())));
  }

  /** A client names itself as it likes; a terminal must not obey it. */
  private static String printable(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }

  /** Goes through all sessions, page by page; to one that comes twice only once. */
  static void forEach(SessionStore sessions, Consumer<SessionPage.Entry> action) {
    Set<SessionId> seen = new HashSet<>();
    Optional<String> from = Optional.empty();
    do {
      SessionPage page = sessions.list(from.orElse(null), PAGE);
      page.entries().stream().filter(entry -> seen.add(entry.session().id())).forEach(action);
      from = page.next();
    } while (from.isPresent());
  }

  ExitCode streams(@Nullable SessionId session, boolean json) {
    if (!isShared(equipment, output)) {
      return ExitCode.PROBLEM;
    }
    if (session != null && sessions.find(session).isEmpty()) {
      output.remark("There is no such session, or it has ended.");
      return ExitCode.PROBLEM;
    }
    if (!json) {
      output.line(
          String.format(
              "%-43s  %-12s  %-8s  %6s  %s", "SESSION", "STREAM", "STATE", "EVENTS", "LAST EVENT"));
    }
    if (session != null) {
      printStreams(session, json);
    } else {
      forEach(sessions, each -> printStreams(each.session().id(), json));
    }
    return ExitCode.FINE;
  }

  private void printStreams(SessionId session, boolean json) {
    long skip = 0;
    boolean more = true;
    while (more) {
      StreamIndex.Page page = equipment.streams().list(session.value(), skip, PAGE);
      page.streams().forEach(stream -> print(stream, json));
      skip += PAGE;
      more = page.more();
    }
  }

  private void print(StreamIndex.Entry entry, boolean json) {
    String state = entry.open() ? "open" : "complete";
    String last = entry.stream().name() + "_" + entry.last();
    if (json) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("session", entry.stream().session());
      object.put("stream", entry.stream().name());
      object.put("state", state);
      object.put("events", entry.kept());
      object.put("lastEventId", last);
      object.put("owner", entry.owner());
      output.json(object);
    } else {
      output.line(
          String.format(
              "%-43s  %-12s  %-8s  %6d  %s",
              entry.stream().session(), entry.stream().name(), state, entry.kept(), last));
    }
  }
}

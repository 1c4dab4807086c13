package dev.holdfast.cli;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import org.jspecify.annotations.Nullable;

/** Runs {@code holdfast streams}: lists the streams of one session, or of all sessions. */
final class StreamsCommand {

  private static final int PAGE = 100;
  private static final String ROW = "%-43s  %-12s  %-8s  %6s  %s";

  private final SessionStore sessions;
  private final StreamIndex streams;
  private final Output output;

  StreamsCommand(SessionStore sessions, StreamIndex streams, Output output) {
    this.sessions = sessions;
    this.streams = streams;
    this.output = output;
  }

  /**
   * @param session session whose streams are listed; null for all sessions
   */
  ExitCode run(@Nullable SessionId session) {
    if (session != null && sessions.find(session).isEmpty()) {
      output.note("There is no such session, or it has ended.");
      return ExitCode.PROBLEM;
    }
    output.header(ROW.formatted("SESSION", "STREAM", "STATE", "EVENTS", "LAST EVENT"));
    if (session != null) {
      printStreams(session);
    } else {
      SessionsCommand.forEach(sessions, entry -> printStreams(entry.session().id()));
    }
    return ExitCode.SUCCESS;
  }

  private void printStreams(SessionId session) {
    long skip = 0;
    boolean more = true;
    while (more) {
      StreamIndex.Page page = streams.list(session.value(), skip, PAGE);
      page.streams().forEach(this::print);
      skip += PAGE;
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
        ROW.formatted(session, name, state, entry.kept(), lastEventId));
  }
}

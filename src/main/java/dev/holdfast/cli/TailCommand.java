package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import java.time.Duration;
import java.util.List;

/**
 * Runs {@code holdfast tail}: prints a stream and follows it. The command polls the log. If it
 * subscribed to the stream, it would evict the client, since a stream has one tail.
 */
final class TailCommand {

  private static final int PAGE = 100;
  private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

  private final SessionStore sessions;
  private final EventLog log;
  private final Output output;

  TailCommand(SessionStore sessions, EventLog log, Output output) {
    this.sessions = sessions;
    this.log = log;
    this.output = output;
  }

  /** Returns when the stream is complete, its session has ended, or the thread is interrupted. */
  ExitCode run(Command.Tail command) {
    try {
      return follow(new StreamRef(command.session().value(), streamName(command)), command.after());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return ExitCode.SUCCESS;
    }
  }

  private String streamName(Command.Tail command) {
    if (command.stream() != null) {
      return command.stream();
    }
    boolean oneStream = sessions.find(command.session()).filter(Session::hasOneStream).isPresent();
    return oneStream ? StreamNames.SHARED : StreamNames.STANDALONE;
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

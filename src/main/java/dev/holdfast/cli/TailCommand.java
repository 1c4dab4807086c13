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
import java.util.Optional;

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
      ReadResult result = log.read(stream, cursor, PAGE);
      found |= result instanceof ReadResult.Events;
      Optional<Position> next = printResult(stream, cursor, result);
      if (next.isEmpty()) {
        return end(result, found);
      }
      if (next.get().equals(cursor)) {
        Thread.sleep(POLL_INTERVAL);
      }
      cursor = next.get();
    }
  }

  /** Prints a result. Returns the position after which to read next; empty at the end. */
  private Optional<Position> printResult(StreamRef stream, Position cursor, ReadResult result) {
    return switch (result) {
      case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> Optional.of(cursor);
      case ReadResult.Events(List<LogEvent> events) -> {
        events.forEach(event -> print(stream, event));
        LogEvent last = events.getLast();
        yield last.last() ? Optional.empty() : Optional.of(last.position());
      }
      case ReadResult.Gap gap -> reportGap(cursor, gap);
      case ReadResult.EndOfStream _, ReadResult.NoSuchStream _ -> Optional.empty();
    };
  }

  private Optional<Position> reportGap(Position cursor, ReadResult.Gap gap) {
    Optional<Position> next = gap.resumeAfter();
    output.note(
        next.map(last -> "The events after " + cursor + " up to " + last + " are gone.")
            .orElse("All events after " + cursor + " are gone."));
    return next;
  }

  private ExitCode end(ReadResult last, boolean found) {
    return switch (last) {
      case ReadResult.Events _, ReadResult.EndOfStream _ -> ExitCode.SUCCESS;
      case ReadResult.Gap _ -> ExitCode.PROBLEM;
      case ReadResult.NoSuchStream _ -> {
        output.note(
            found ? "The session has ended." : "There is no such stream, or it has expired.");
        yield found ? ExitCode.SUCCESS : ExitCode.PROBLEM;
      }
    };
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

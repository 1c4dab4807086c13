package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import org.jspecify.annotations.Nullable;

/**
 * Follows a stream. It only reads, again and again: to watch a stream would take its one seat from
 * the client whose stream it is.
 */
final class Follower {

  private static final int PAGE = 100;
  private static final Duration PAUSE = Duration.ofMillis(250);

  private final CommandContext equipment;
  private final SessionStore sessions;
  private final EventLog log;
  private final Output output;

  Follower(CommandContext equipment, SessionStore sessions, EventLog log, Output output) {
    this.equipment = equipment;
    this.sessions = sessions;
    this.log = log;
    this.output = output;
  }

  /** Returns when the stream is complete, or its session has ended. */
  ExitCode follow(Command.Tail tail) {
    if (!Listings.isShared(equipment, output)) {
      return ExitCode.PROBLEM;
    }
    StreamRef stream = new StreamRef(tail.session().value(), nameOf(tail));
    Position cursor = tail.after();
    boolean found = false;
    while (true) {
      switch (log.read(stream, cursor, PAGE)) {
        case ReadResult.Events events -> {
          found = true;
          for (LogEvent event : events.events()) {
            print(stream, event, tail.json());
            cursor = event.position();
            if (event.last()) {
              return ExitCode.FINE;
            }
          }
          if (events.events().isEmpty() && !pause()) {
            return ExitCode.FINE;
          }
        }
        case ReadResult.Gap gap -> {
          Position next = afterGap(cursor, gap);
          if (next == null) {
            return ExitCode.PROBLEM;
          }
          cursor = next;
        }
        case ReadResult.EndOfStream _ -> {
          return ExitCode.FINE;
        }
        case ReadResult.NoSuchStream _ -> {
          return gone(found);
        }
      }
    }
  }

  private ExitCode gone(boolean found) {
    output.remark(
        found
            ? "The session has ended, and the stream with it."
            : "There is no such stream, or it has expired.");
    return found ? ExitCode.FINE : ExitCode.PROBLEM;
  }

  private String nameOf(Command.Tail tail) {
    if (tail.stream() != null) {
      return tail.stream();
    }
    boolean one = sessions.find(tail.session()).filter(Session::hasOneStream).isPresent();
    return one ? StreamNames.SHARED : StreamNames.STANDALONE;
  }

  private @Nullable Position afterGap(Position cursor, ReadResult.Gap gap) {
    Position next = gap.resumeAfter().orElse(null);
    output.remark(
        next == null
            ? "All events after " + cursor + " are gone."
            : "Events after " + cursor + " up to " + next + " are gone.");
    return next;
  }

  private void print(StreamRef stream, LogEvent event, boolean json) {
    if (event.payload().length == 0) {
      return; // The end of a call that was cancelled.
    }
    String id = new EventId(stream.name(), event.position()).toString();
    String message = new String(event.payload(), UTF_8);
    output.line(json ? "{\"id\":\"" + id + "\",\"message\":" + message + "}" : id + " " + message);
  }

  private static boolean pause() {
    try {
      Thread.sleep(PAUSE);
      return true;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

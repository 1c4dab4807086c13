package dev.holdfast.relay.tail;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;

/** Events that a client asks for and the log does not have. */
final class MissingEvents {

  /** Neither the events after the cursor nor later ones are kept. */
  static final String GONE = "stream gone";

  /** The events are older than the configuration lets clients go back. */
  static final String STALE = "older than replay.window";

  private static final Logger LOG = Logger.getLogger(MissingEvents.class);
  private static final LogRate GAPS = new LogRate(Duration.ofMillis(100));
  private static final LogRate UNKNOWN = new LogRate(Duration.ofMillis(100));

  private MissingEvents() {}

  /**
   * The cause of a gap.
   *
   * @param rest the position before the rest of the stream; empty without one
   */
  static String cause(Position cursor, Optional<Position> rest) {
    if (rest.isEmpty()) {
      return GONE;
    }
    return rest.get().number() < cursor.number() ? "lost by the store" : "purged";
  }

  /**
   * Finds the event that a client has received with another position: it was delivered unlogged and
   * another replica has logged it, or the store has lost it and the writer has logged it again.
   *
   * @param cursor the position that the client knows
   * @param upstreamId the id that the upstream gave it
   * @return its position in the log; empty if the log does not have it
   */
  static Optional<Position> sameEvent(
      EventLog log, StreamRef stream, Position cursor, String upstreamId) {
    Optional<Position> next =
        log.newestUntil(stream, cursor.millis() - 1).or(() -> log.beforeOldest(stream));
    while (next.isPresent()) {
      Position at = next.get();
      next = Optional.empty();
      switch (log.readStored(stream, at, EventLog.PAGE_EVENTS, PageReader.SMALLEST)) {
        case ReadResult.Events(List<LogEvent> events) when !events.isEmpty() -> {
          for (LogEvent event : events) {
            if (upstreamId.equals(event.upstreamId())) {
              return Optional.of(event.position());
            }
          }
          next = Optional.of(events.getLast().position());
        }
        case ReadResult.Gap hole -> next = hole.resumeAfter().filter(end -> end.compareTo(at) > 0);
        default -> {}
      }
    }
    return next;
  }

  /**
   * Finds where a client goes on after a gap: before the rest of the stream. If the store has lost
   * events that the client has, it goes on with the first event that was written after them. With
   * the oldest one it would get events twice.
   */
  static Position goOnAfter(EventLog log, StreamRef stream, Position cursor, Position rest) {
    return rest.number() < cursor.number()
        ? log.newestUntil(stream, cursor.millis()).orElse(rest)
        : rest;
  }

  /** Notes that a client is told of a gap: with a comment, or with 410. */
  static void logGap(StreamRef stream, Position after, String cause) {
    GAPS.warn(
        LOG, "client told that events are gone stream=%s after=%s cause=%s", stream, after, cause);
  }

  /** Notes that a client gets 400 for a stream that its session never had. */
  static void logUnknown(StreamRef stream, Position after, String cause) {
    UNKNOWN.warn(
        LOG,
        "client resumes a stream that its session never had stream=%s after=%s cause=%s",
        stream,
        after,
        cause);
  }
}

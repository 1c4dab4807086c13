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
   * Finds where a client goes on that has events which the store has lost: before the first event
   * that was written after them. From the oldest one it would get events twice.
   */
  static Position afterLost(EventLog log, StreamRef stream, Position cursor, Position oldest) {
    return switch (log.read(stream, new Position(cursor.millis() + 1, 0), 1)) {
      case ReadResult.Events(List<LogEvent> events) when !events.isEmpty() -> {
        Position first = events.getFirst().position();
        yield new Position(first.millis(), first.number() - 1);
      }
      case ReadResult.Gap newer -> newer.resumeAfter().orElse(oldest);
      default -> oldest;
    };
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

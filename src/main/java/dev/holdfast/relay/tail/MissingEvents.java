package dev.holdfast.relay.tail;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.Optional;
import org.jboss.logging.Logger;

/** Log lines about events that a client asks for and the log does not have. */
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

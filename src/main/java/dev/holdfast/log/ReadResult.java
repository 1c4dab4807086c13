package dev.holdfast.log;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The result of reading after a cursor. */
public sealed interface ReadResult {

  /**
   * The next events, without a gap.
   *
   * @param events in order; empty when the cursor is at the end of an open stream
   */
  record Events(List<LogEvent> events) implements ReadResult {
    /** Copies the list. */
    public Events {
      events = List.copyOf(events);
    }
  }

  /** The cursor is at the end of a complete stream. */
  record EndOfStream() implements ReadResult {}

  /**
   * Events after the cursor are missing: they were purged by age or count, or the store lost them.
   * A foreign cursor also counts as a gap. Such a cursor is ahead of this log, or its time differs
   * from that of the event with its number.
   *
   * @param firstAvailable the oldest kept event after the cursor, or the oldest of all for a
   *     foreign cursor; null when there is none yet
   * @param head the last position of the stream if no event is available; null when it is unknown
   */
  record Gap(@Nullable Position firstAvailable, @Nullable Position head) implements ReadResult {

    /** A gap in a stream whose last position is unknown. */
    public Gap(@Nullable Position firstAvailable) {
      this(firstAvailable, null);
    }

    /**
     * The cursor for a reader that accepts the gap: just before the first available event, or the
     * last position if there is none. The result is never before the reader's cursor, so no event
     * is read twice. A foreign cursor is the exception.
     */
    public Optional<Position> resumeAfter() {
      return firstAvailable == null
          ? Optional.ofNullable(head)
          : Optional.of(new Position(firstAvailable.millis(), firstAvailable.number() - 1));
    }
  }

  /** There is no such stream, or its session has ended. */
  record NoSuchStream() implements ReadResult {}
}

package dev.holdfast.log;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a reader finds after its cursor. */
public sealed interface ReadResult {

  /**
   * Events that follow the cursor without a hole.
   *
   * @param events in order; empty when the cursor stands at the head of an open stream
   */
  record Events(List<LogEvent> events) implements ReadResult {
    /** Copies the list. */
    public Events {
      events = List.copyOf(events);
    }
  }

  /** The cursor stands at the end of a stream that is complete: nothing will follow. */
  record EndOfStream() implements ReadResult {}

  /**
   * Events between the cursor and what is kept are missing: purged by age or count, or lost by the
   * store. A cursor that is not of this log, because it is ahead of it or has another time than the
   * event of its number, is one too.
   *
   * @param firstAvailable the oldest event that is kept and follows the cursor, or the oldest of
   *     all if the cursor is not of this log; null when there is none (yet)
   * @param head where the stream stands if there is none; null when that is not known
   */
  record Gap(@Nullable Position firstAvailable, @Nullable Position head) implements ReadResult {

    /** A gap of a stream whose head is not known. */
    public Gap(@Nullable Position firstAvailable) {
      this(firstAvailable, null);
    }

    /**
     * The position after which a reader that accepts the gap goes on: just before the first
     * available event, or at the head if there is none. Never behind the cursor, unless the cursor
     * is not of this log; so nothing comes twice.
     */
    public Optional<Position> resumeAfter() {
      return firstAvailable == null
          ? Optional.ofNullable(head)
          : Optional.of(new Position(firstAvailable.millis(), firstAvailable.number() - 1));
    }
  }

  /** The session has no such stream, or there is no such session (any more). */
  record NoSuchStream() implements ReadResult {}
}

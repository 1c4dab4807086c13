package dev.holdfast.log;

import java.util.List;
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
  record Ended() implements ReadResult {}

  /**
   * Events between the cursor and what is kept are missing: purged by age or count, or lost by the
   * store.
   *
   * @param firstAvailable the oldest event that is kept; null when none is
   */
  record Gap(@Nullable Position firstAvailable) implements ReadResult {}

  /** The session has no such stream, or there is no such session (any more). */
  record Unknown() implements ReadResult {}
}

package dev.holdfast.sse;

import java.time.Duration;

/**
 * Receives what an {@link SseParser} finds, in stream order, on the feeding thread.
 *
 * <p>An exception passes through {@link SseParser#feed} and leaves the parser as after an {@link
 * SseLimitException}. No method may feed, end or reset the parser that calls it.
 */
@FunctionalInterface
public interface SseHandler {

  /** Receives an event. */
  void event(SseEvent event);

  /** Receives a reconnection time at the end of its line, even if the event is never finished. */
  default void retry(Duration delay) {}

  /**
   * Returns true if the parser skips an event that is too large. It then passes its data to {@link
   * #skipped}, and at its end an event without data to {@link #event}. Otherwise it fails.
   */
  default boolean skips() {
    return false;
  }

  /** Receives a part of the data of an event that is skipped, without the line ends. */
  default void skipped(byte[] bytes, int from, int to) {}

  /** Receives a comment line, which peers send to show that they are alive. */
  default void comment() {}
}

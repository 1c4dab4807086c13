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

  /** Receives a comment line, which peers send to show that they are alive. */
  default void comment() {}
}

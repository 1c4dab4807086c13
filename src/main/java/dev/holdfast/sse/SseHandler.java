package dev.holdfast.sse;

import java.time.Duration;

/**
 * Takes what an {@link SseParser} finds, in the order of the stream, on the thread that feeds it.
 *
 * <p>A method may throw: the exception passes through {@link SseParser#feed} and leaves the parser
 * as after an {@link SseLimitException}. No method may feed, end or reset the parser that calls it.
 */
@FunctionalInterface
public interface SseHandler {

  /**
   * Takes a dispatched event.
   *
   * @param event a view into the parser, valid only until this method returns
   */
  void event(SseEvent event);

  /**
   * Takes a new reconnection time. It comes when the {@code retry} line ends, even if the event
   * around that line is never finished.
   *
   * @param delay how long to wait before connecting again
   */
  default void retry(Duration delay) {}

  /** Notes a comment line; peers send them to show that they are alive. */
  default void comment() {}
}

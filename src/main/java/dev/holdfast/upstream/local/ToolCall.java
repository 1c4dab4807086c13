package dev.holdfast.upstream.local;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One running call of a tool. Thread-safe.
 *
 * <p>What is sent waits while the reader has too much before it, so a tool cannot run ahead of its
 * reader without bound.
 */
public interface ToolCall {

  /**
   * Tells the client how far the call has come, if the client asked to be told.
   *
   * @param progress more than the last time
   * @param total what {@code progress} will come to; null if that is unknown
   * @param message what is going on; null for nothing
   * @throws IllegalArgumentException if {@code progress} did not increase, or a number is not
   *     finite
   * @throws CancellationException if the call is cancelled or answered; nothing was sent
   */
  void progress(double progress, @Nullable Double total, @Nullable String message);

  /**
   * Sends the client a log message, unless it is below the level that the client set for its
   * session. As long as it has set none, that is {@link LogLevel#INFO}.
   *
   * @param logger the name of what logs
   * @param text what happened; shown to the client
   * @throws CancellationException if the call is cancelled or answered; nothing was sent
   */
  void log(LogLevel level, String logger, String text);

  /** The client, which can be asked as long as the call runs. */
  Client client();

  /** Whether nobody waits for the result any more. Never turns false again. */
  boolean cancelled();

  /**
   * Throws if nobody waits for the result any more. A tool that computes asks now and then.
   *
   * @throws CancellationException if {@link #cancelled()}
   */
  default void checkCancelled() {
    if (cancelled()) {
      throw new CancellationException("The call is cancelled");
    }
  }
}

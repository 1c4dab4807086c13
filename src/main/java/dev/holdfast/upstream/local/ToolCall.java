package dev.holdfast.upstream.local;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One running call of a tool. Thread-safe.
 *
 * <p>Sending waits while the stream of the call is full, so a slow client holds the tool back.
 */
public interface ToolCall {

  /**
   * Reports progress if the client asked for it.
   *
   * @param progress more than the last time
   * @param total final value of {@code progress}; null if unknown
   * @param message current activity; null for none
   * @throws IllegalArgumentException if {@code progress} did not increase, or a number is not
   *     finite
   * @throws CancellationException if the call is over; nothing was sent
   */
  void progress(double progress, @Nullable Double total, @Nullable String message);

  /**
   * Sends a log message to the client, unless it is below the level of the session. The default
   * level is {@link LogLevel#INFO}.
   *
   * @param logger name of the component that logs
   * @throws CancellationException if the call is over; nothing was sent
   */
  void log(LogLevel level, String logger, String text);

  /** Returns a name of the session that is the same for all its calls. Clients never see it. */
  String session();

  /** Returns the client. It takes requests as long as the call runs. */
  Client client();

  /** Returns whether the call is cancelled. Never turns false again. */
  boolean cancelled();

  /**
   * Throws if the call is cancelled. Tools that compute call it regularly.
   *
   * @throws CancellationException if {@link #cancelled()}
   */
  default void checkCancelled() {
    if (cancelled()) {
      throw new CancellationException("The call is cancelled");
    }
  }
}

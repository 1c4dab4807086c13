package dev.holdfast.relay.tail;

import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The last message of a response that a {@link Translation} ends after some time. To make it may
 * need the store. For the thread of a tail.
 */
public final class EarlyAnswer {

  /** Time after which the message is made again that needed the store. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private long due;
  private byte @Nullable [] made;

  /**
   * Begins to wait.
   *
   * @param after time after which the response ends
   */
  public EarlyAnswer(Duration after) {
    due = System.nanoTime() + after.toNanos();
  }

  /** Time until the response ends; zero or less if it must end now. Then the message is made. */
  public Duration left(Supplier<byte[]> message) {
    if (isDue() && made == null) {
      try {
        made = message.get();
      } catch (SessionStoreException away) {
        due = System.nanoTime() + RETRY.toNanos();
      }
    }
    return Duration.ofNanos(due - System.nanoTime());
  }

  /** Returns true if the response must end. */
  public boolean isDue() {
    return due - System.nanoTime() <= 0;
  }

  /** Returns the message, also if it is not due yet. */
  public byte[] take(Supplier<byte[]> message) {
    return made == null ? message.get() : made;
  }
}

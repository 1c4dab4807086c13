package dev.holdfast.record;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/** Plays one stream: its reader runs the actions. */
final class ReplaySource implements MessageSource {

  /** What happens next on a stream. */
  sealed interface Action {

    record Pause(Duration time) implements Action {}

    /** Waits for a condition, which holds the lock of the session while it is evaluated. */
    record Await(BooleanSupplier condition) implements Action {}

    /**
     * Sends a message.
     *
     * @param onSend runs with the lock of the session
     */
    record Send(byte[] message, Runnable onSend) implements Action {
      Send(byte[] message) {
        this(message, () -> {});
      }
    }

    /** Keeps the stream open without a message. */
    Action STAY_OPEN = new Await(() -> false);
  }

  private final AutoLock lock;
  private final Condition changed;
  private final List<Action> actions;

  // Guarded by the lock.
  private int next;
  private boolean closed;

  /**
   * Creates a source that plays when it is read.
   *
   * @param lock of the session
   * @param changed signalled when a condition may have become true
   */
  ReplaySource(AutoLock lock, Condition changed, List<Action> actions) {
    this.lock = lock;
    this.changed = changed;
    this.actions = List.copyOf(actions);
  }

  @Override
  public List<UpstreamMessage> take() {
    try (var _ = lock.hold()) {
      while (!closed && next < actions.size()) {
        switch (actions.get(next++)) {
          case Action.Pause(Duration time) -> pause(time);
          case Action.Await(BooleanSupplier condition) -> {
            while (!closed && !condition.getAsBoolean()) {
              changed.await();
            }
          }
          case Action.Send(byte[] message, Runnable onSend) -> {
            onSend.run();
            return List.of(new UpstreamMessage(message, null));
          }
        }
      }
      return List.of();
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  private void pause(Duration time) throws InterruptedException {
    long left = time.toNanos();
    while (!closed && left > 0) {
      left = changed.awaitNanos(left);
    }
  }

  @Override
  public void close() {
    try (var _ = lock.hold()) {
      closed = true;
      changed.signalAll();
    }
  }
}

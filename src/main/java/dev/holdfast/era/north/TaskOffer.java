package dev.holdfast.era.north;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A call that becomes a task if it still runs after some time. For the thread of its tail. */
final class TaskOffer {

  /** Time after which an id is made again that needed the store. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Tasks tasks;
  private long due;
  private byte @Nullable [] task;

  private TaskOffer(Tasks tasks, Duration after) {
    this.tasks = tasks;
    this.due = System.nanoTime() + after.toNanos();
  }

  /** Offers to make a task of a call; null if there are none, or its client does not know them. */
  static @Nullable TaskOffer to(StatelessRequest request, Tasks tasks) {
    return tasks.after(request).map(after -> new TaskOffer(tasks, after)).orElse(null);
  }

  /**
   * Time until the call becomes a task; zero or less if it is one.
   *
   * @param from position up to which the server has asked nothing, or has its answers
   */
  Duration left(RequestId request, StatelessCall call, String stream, Position from) {
    Duration left = Duration.ofNanos(due - System.nanoTime());
    if (left.isPositive() || task != null) {
      return left;
    }
    try {
      task = tasks.response(request, call, stream, from);
    } catch (SessionStoreException away) {
      due = System.nanoTime() + RETRY.toNanos();
      return RETRY;
    }
    return left;
  }

  /** Makes the call a task. Returns the response that names it. */
  byte[] take(RequestId request, StatelessCall call, String stream, Position from) {
    byte[] response = task == null ? tasks.response(request, call, stream, from) : task;
    tasks.made();
    return response;
  }
}

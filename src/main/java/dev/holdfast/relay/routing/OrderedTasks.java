package dev.holdfast.relay.routing;

import dev.holdfast.lock.AutoLock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/** A bounded queue of tasks that run one after the other. Thread-safe. */
final class OrderedTasks {

  private static final Logger LOG = Logger.getLogger(OrderedTasks.class);
  private static final Executor VIRTUAL = Thread.ofVirtual().name("pinned-session")::start;

  /** As many tasks as an inbox holds messages, so that messages do not pile up here instead. */
  static final int MAX_TASKS = 256;

  /** When this many bytes wait, no more tasks are accepted. An inbox holds as many. */
  static final int MAX_BYTES = 16 << 20;

  private final AutoLock lock = new AutoLock();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong bytesWaiting = new AtomicLong();

  /** Written under the lock. */
  private volatile CompletableFuture<Boolean> last = CompletableFuture.completedFuture(true);

  /** Runs a task, which holds that memory, after all earlier ones; returns false when full. */
  boolean add(int bytes, Runnable task) {
    try (var _ = lock.hold()) {
      if (waiting.get() >= MAX_TASKS || bytesWaiting.get() >= MAX_BYTES) {
        return false;
      }
      waiting.incrementAndGet();
      bytesWaiting.addAndGet(bytes);
      last = last.thenApplyAsync(_ -> run(bytes, task), VIRTUAL);
      return true;
    }
  }

  private boolean run(int bytes, Runnable task) {
    try {
      task.run();
    } catch (Throwable unexpected) {
      // The tasks behind it must still run.
      LOG.error("task failed unexpectedly", unexpected);
    } finally {
      waiting.decrementAndGet();
      bytesWaiting.addAndGet(-bytes);
    }
    return true;
  }

  /** Completes when all tasks that were added so far have run. */
  CompletableFuture<Boolean> done() {
    return last;
  }
}

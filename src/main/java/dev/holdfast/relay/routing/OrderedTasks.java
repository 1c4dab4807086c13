package dev.holdfast.relay.routing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jboss.logging.Logger;

/** What is done one after the other, as far as there is room for what waits. Thread-safe. */
final class OrderedTasks {

  private static final Logger LOG = Logger.getLogger(OrderedTasks.class);
  private static final Executor VIRTUAL = Thread.ofVirtual().name("home")::start;

  /** As many as an inbox holds: what is taken out of that must not pile up here instead. */
  static final int MOST = 256;

  /** Once so much waits nothing more is taken, of whatever size. As many as an inbox holds, too. */
  static final int MOST_BYTES = 16 << 20;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private CompletableFuture<Boolean> last = CompletableFuture.completedFuture(true);
  private int waiting;
  private long bytesWaiting;

  /**
   * Does something once all is done that was added before.
   *
   * @param bytes the size of what it keeps in memory until then
   * @return whether there is room for it
   */
  boolean add(int bytes, Runnable task) {
    lock.lock();
    try {
      if (waiting >= MOST || bytesWaiting >= MOST_BYTES) {
        return false;
      }
      waiting++;
      bytesWaiting += bytes;
      last = last.thenApplyAsync(_ -> work(bytes, task), VIRTUAL);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean work(int bytes, Runnable task) {
    try {
      task.run();
    } catch (RuntimeException unforeseen) {
      // Those behind it must not wait for ever.
      LOG.error("what was sent through another replica has failed", unforeseen);
    } finally {
      lock.lock();
      try {
        waiting--;
        bytesWaiting -= bytes;
      } finally {
        lock.unlock();
      }
    }
    return true;
  }

  /** Completes when all is done that was added so far. */
  CompletableFuture<Boolean> all() {
    lock.lock();
    try {
      return last;
    } finally {
      lock.unlock();
    }
  }
}

package dev.holdfast.relay.failover;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;

/**
 * Compares what the store records with what runs on this replica, and repairs the difference. It
 * runs with every sweep, after the store was away, and when other replicas may have considered this
 * one lost. Thread-safe.
 */
public final class Reconciler {

  private static final Logger LOG = Logger.getLogger(Reconciler.class);

  private static final Duration RETRY_DELAY = Duration.ofMillis(200);

  /** A store that is away for longer is noticed by its subscription, which reconciles again. */
  private static final int ATTEMPTS = 25;

  private final List<Check> checks;
  private final AutoLock running = new AutoLock();

  /** Calls of {@link #reconcileSoon} whose run has not ended. */
  private final AtomicInteger requested = new AtomicInteger();

  /** Finds and repairs one kind of difference; the name is for the log of this program. */
  public record Check(String name, Runnable repair) {}

  /** Creates a reconciler that runs the checks in this order. */
  public Reconciler(List<Check> checks) {
    this.checks = List.copyOf(checks);
  }

  /**
   * Starts a run on its own thread. A call during a run starts another run after it. A check that
   * fails because the store is away is repeated for five seconds.
   */
  public void reconcileSoon() {
    if (requested.getAndIncrement() == 0) {
      Thread.ofVirtual().name("reconciler").start(this::runRequested);
    }
  }

  private void runRequested() {
    int served;
    do {
      served = requested.get();
      List<Check> left = run(checks);
      for (int attempt = 1;
          attempt < ATTEMPTS && !left.isEmpty() && pause(RETRY_DELAY);
          attempt++) {
        left = run(left);
      }
    } while (!requested.compareAndSet(served, 0));
  }

  /** Runs all checks once, on the calling thread. */
  public void reconcile() {
    List<Check> _ = run(checks);
  }

  private List<Check> run(List<Check> due) {
    try (var _ = running.hold()) {
      return due.stream().filter(check -> !succeeds(check)).toList();
    }
  }

  /** Returns false when the check should be repeated. */
  private static boolean succeeds(Check check) {
    try {
      check.repair().run();
      return true;
    } catch (LogException.StoreUnavailable | SessionStoreException away) {
      LOG.debugf("check not done, the store is away check=%s: %s", check.name(), away.getMessage());
      return false;
    } catch (Throwable unexpected) {
      // Also an Error: the other checks and later runs must not be missed.
      LOG.errorf(unexpected, "check failed unexpectedly check=%s", check.name());
      return true;
    }
  }

  /** Returns false when this thread was interrupted. */
  static boolean pause(Duration delay) {
    try {
      Thread.sleep(delay);
      return true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

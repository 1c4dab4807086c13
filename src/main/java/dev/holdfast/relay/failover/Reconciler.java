package dev.holdfast.relay.failover;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * Compares what the store records with what runs on this replica, and repairs the difference. It
 * runs after the store was away, when other replicas may have considered this one lost, and, for a
 * part of the sessions, with every sweep. Thread-safe.
 */
public final class Reconciler {

  private static final Logger LOG = Logger.getLogger(Reconciler.class);

  private static final Duration RETRY_DELAY = Duration.ofMillis(200);

  /** A store that is away for longer is noticed by its subscription, which reconciles again. */
  private static final int ATTEMPTS = 25;

  /** Parts of the sessions, of which a run without doubts looks at one. */
  static final int PARTS = 48;

  private final List<Check> checks;
  private final BooleanSupplier doubts;
  private final AtomicInteger next = new AtomicInteger();
  private final AutoLock running = new AutoLock();

  /** Calls of {@link #reconcileSoon} whose run has not ended. */
  private final AtomicInteger requested = new AtomicInteger();

  /**
   * Finds and repairs one kind of difference.
   *
   * @param name for the log of this program
   * @param repair gets the keys to look at
   */
  public record Check(String name, Consumer<Predicate<LogKey>> repair) {}

  /**
   * Creates a reconciler that runs the checks in this order.
   *
   * @param doubts returns true if there may be differences since it was last asked
   */
  public Reconciler(List<Check> checks, BooleanSupplier doubts) {
    this.checks = List.copyOf(checks);
    this.doubts = doubts;
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
      List<Check> left = run(checks, _ -> true);
      for (int attempt = 1;
          attempt < ATTEMPTS && !left.isEmpty() && pause(RETRY_DELAY);
          attempt++) {
        left = run(left, _ -> true);
      }
    } while (!requested.compareAndSet(served, 0));
  }

  /**
   * Runs all checks once, on the calling thread. Without doubts it looks at one part of the
   * sessions, and at the next part the next time: nothing should be found, and looks at sessions
   * that do nothing cost the store more than all else about them.
   */
  public void reconcile() {
    int part = Math.floorMod(next.getAndIncrement(), PARTS);
    List<Check> _ =
        run(
            checks,
            doubts.getAsBoolean()
                ? _ -> true
                : key -> Math.floorMod(key.hashCode(), PARTS) == part);
  }

  private List<Check> run(List<Check> due, Predicate<LogKey> keys) {
    try (var _ = running.hold()) {
      return due.stream().filter(check -> !succeeds(check, keys)).toList();
    }
  }

  /** Returns false when the check should be repeated. */
  private static boolean succeeds(Check check, Predicate<LogKey> keys) {
    try {
      check.repair().accept(keys);
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

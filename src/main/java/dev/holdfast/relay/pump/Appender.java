package dev.holdfast.relay.pump;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.retry.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Gets the events of one {@link Pump} into the log, whatever the store does. Events wait for a
 * store that is away, and the upstream waits behind them. What has waited for too long is passed to
 * the client that is there, if one is; then a thread of its own keeps trying to tell the store, so
 * that the stream is in order again soon after the store is back, also when no more events come.
 *
 * <p>For one pumping thread, which owns every field that is neither final nor volatile.
 */
final class Appender {

  private static final Logger LOG = Logger.getLogger(Appender.class);

  /** How long the store may be back before it is told of what was passed. */
  private static final Backoff TELL = new Backoff(Duration.ofMillis(20), Duration.ofMillis(100));

  private final StreamWriter writer;
  private final Duration hold;
  private final RelayListener listener;

  /** How often something was passed that the store was not told of yet. */
  private final AtomicInteger untold = new AtomicInteger();

  /** Whether events are passed at once, since others have waited. */
  private volatile boolean passing;

  private @Nullable Thread telling;

  /** Whether the outage of now was logged. */
  private boolean warned;

  Appender(StreamWriter writer, Duration hold, RelayListener listener) {
    this.writer = writer;
    this.hold = hold;
    this.listener = listener;
  }

  /**
   * Appends events, or passes them when the store is away for too long; waits until either is done.
   *
   * @throws FencedException when the stream is not written here any more
   */
  void append(List<NewEvent> events) throws InterruptedException {
    if (passing && pass(events)) {
      return;
    }
    long start = System.nanoTime();
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      try {
        writer.append(events);
        listener.appended(events.size(), since(start));
        passing = false;
        warned = false;
        return;
      } catch (StoreUnavailableException | OutcomeUnknownException failure) {
        warn(failure);
      }
      Duration left = hold.minus(since(start));
      boolean waits = !passing && left.isPositive();
      if (!waits && pass(events)) {
        return;
      }
      Thread.sleep(waits && left.compareTo(backoff.delay()) < 0 ? left : backoff.delay());
    }
  }

  /** Waits until the store knows where the stream stands, or the stream is another's. */
  void finish() throws InterruptedException {
    if (telling != null) {
      telling.join();
    }
  }

  private boolean pass(List<NewEvent> events) {
    if (!writer.deliverUnlogged(events)) {
      return false;
    }
    passing = true;
    listener.passed(events.size());
    if (untold.getAndIncrement() == 0) {
      telling = Thread.ofVirtual().name("settling " + writer.stream()).start(this::tell);
    }
    return true;
  }

  private void tell() {
    for (Backoff backoff = TELL; ; backoff = backoff.next()) {
      int told = untold.get();
      try {
        writer.recordSkipped();
        // What comes from now on is appended: else a busy stream would never be settled.
        passing = false;
        if (untold.compareAndSet(told, 0)) {
          LOG.infof("stream=%s goes on in the store", writer.stream());
          return;
        }
      } catch (StoreUnavailableException | OutcomeUnknownException failure) {
        LOG.tracef("stream=%s is not settled yet: %s", writer.stream(), failure.getMessage());
        LockSupport.parkNanos(backoff.delay().toNanos());
      } catch (FencedException replaced) {
        LOG.debugf("stream=%s is not settled here: %s", writer.stream(), replaced.getMessage());
        passing = false;
        return;
      }
    }
  }

  private void warn(LogException failure) {
    if (!warned) {
      LOG.warnf("stream=%s waits for the store: %s", writer.stream(), failure.getMessage());
    }
    warned = true;
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}

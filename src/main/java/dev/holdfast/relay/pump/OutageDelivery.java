package dev.holdfast.relay.pump;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
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
 * The one exception to "write, then deliver": during a long outage of the store, events go to the
 * client on this replica without being in the log. They use up numbers of the stream, so that later
 * readers find a gap. A thread of its own tells the store about the gap as soon as the store is
 * back, even if no more events come.
 *
 * <p>{@link #deliver} and {@link #finish} belong to the thread of the pump.
 */
final class OutageDelivery {

  private static final Logger LOG = Logger.getLogger(OutageDelivery.class);

  /** After an outage every stream continues. */
  private static final LogRate SETTLED = new LogRate(Duration.ofSeconds(1));

  /** Delays between attempts to tell the store. */
  private static final Backoff SETTLE = new Backoff(Duration.ofMillis(20), Duration.ofMillis(100));

  private static final Duration UNEXPECTED_DELAY = Duration.ofSeconds(1);

  private final StreamWriter writer;
  private final RelayListener listener;

  /** The number of deliveries that the store does not know about. */
  private final AtomicInteger unsettled = new AtomicInteger();

  private volatile boolean active;
  private @Nullable Thread settling;

  OutageDelivery(StreamWriter writer, RelayListener listener) {
    this.writer = writer;
    this.listener = listener;
  }

  /**
   * Returns true if earlier events were delivered this way, so that further events need not wait.
   */
  boolean isActive() {
    return active;
  }

  /** The log takes events again. */
  void end() {
    active = false;
  }

  /** Delivers events past the log; returns false when no client on this replica can take them. */
  boolean deliver(List<NewEvent> events) {
    if (!writer.deliverUnlogged(events)) {
      return false;
    }
    active = true;
    listener.deliveredUnlogged(events.size());
    if (unsettled.getAndIncrement() == 0) {
      settling = Thread.ofVirtual().name("settle " + writer.stream()).start(this::settle);
    }
    return true;
  }

  private void settle() {
    for (Backoff backoff = SETTLE; ; backoff = backoff.next()) {
      int settled = unsettled.get();
      try {
        writer.recordSkipped();
        // Later events are appended. Otherwise a busy stream would never be settled.
        end();
        if (unsettled.compareAndSet(settled, 0)) {
          SETTLED.info(LOG, "the store takes events again stream=%s", writer.stream());
          return;
        }
      } catch (LogException.StoreUnavailable | LogException.OutcomeUnknown failure) {
        LOG.tracef("not settled yet stream=%s: %s", writer.stream(), failure.getMessage());
        LockSupport.parkNanos(backoff.delay().toNanos());
      } catch (LogException.Fenced fenced) {
        LOG.debugf("not settled here stream=%s: %s", writer.stream(), fenced.getMessage());
        end();
        return;
      } catch (Throwable unexpected) {
        // No other thread tells the store about the gap.
        LOG.errorf(unexpected, "not settled yet stream=%s", writer.stream());
        LockSupport.parkNanos(UNEXPECTED_DELAY.toNanos());
      }
    }
  }

  /** Waits until the store knows where the stream stands, or another replica owns the stream. */
  void finish() throws InterruptedException {
    if (settling != null) {
      settling.join();
    }
  }
}

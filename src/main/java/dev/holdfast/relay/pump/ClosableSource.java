package dev.holdfast.relay.pump;

import dev.holdfast.upstream.MessageSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A source of messages that one thread opens and reads, and that any thread can close, also while
 * it is being opened. The reading thread can open another source after the first. Thread-safe.
 */
public final class ClosableSource {

  private final InterruptibleWait opening = new InterruptibleWait();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable MessageSource current;

  /** The open source; null before {@link #open} and after {@link #forget}. */
  public @Nullable MessageSource current() {
    return current;
  }

  /** Opens a source. {@link #close} interrupts this, or closes what was opened. */
  public <T extends @Nullable MessageSource> T open(Supplier<T> open) {
    T opened = opening.during(open::get);
    current = opened;
    if (opened != null && isClosed()) {
      opened.close();
    }
    return opened;
  }

  /** Forgets a source that has ended. */
  public void forget() {
    current = null;
  }

  /** Waits before the source is opened again, unless {@link #close} is called. */
  public void pause(Duration delay) {
    try {
      boolean _ = closed.await(delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException stop) {
      close();
      Thread.currentThread().interrupt();
    }
  }

  /** Returns true if {@link #close} was called. */
  public boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Closes the source for good. */
  public void close() {
    closed.countDown();
    MessageSource open = current;
    if (open != null) {
      open.close();
    }
    opening.end();
  }
}

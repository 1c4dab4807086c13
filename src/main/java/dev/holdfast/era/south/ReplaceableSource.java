package dev.holdfast.era.south;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The source of a call's messages, which the next request of the call replaces. For one reading
 * thread; any thread may close it.
 */
final class ReplaceableSource {

  private final CountDownLatch closed = new CountDownLatch(1);
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private MessageSource current;
  private @Nullable Thread opening;

  ReplaceableSource(MessageSource first) {
    current = first;
  }

  List<UpstreamMessage> take() {
    return current.take();
  }

  boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Returns true if this source is closed before the time is over. */
  boolean isClosedWithin(Duration time) throws InterruptedException {
    return closed.await(time.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Closes the current source, and opens the next one. Closing interrupts that. */
  void replace(Supplier<MessageSource> next) {
    try (var _ = lock.hold()) {
      if (isClosed()) {
        return;
      }
      opening = Thread.currentThread();
    }
    try {
      current.close();
      MessageSource opened = next.get();
      try (var _ = lock.hold()) {
        current = opened;
      }
    } finally {
      try (var _ = lock.hold()) {
        opening = null;
        if (isClosed()) {
          boolean _ = Thread.interrupted(); // Meant for the opening.
          current.close();
        }
      }
    }
  }

  /** Returns true for the first of all calls. */
  boolean close() {
    try (var _ = lock.hold()) {
      boolean first = !isClosed();
      closed.countDown();
      current.close();
      if (opening != null && !opening.equals(Thread.currentThread())) {
        opening.interrupt();
      }
      return first;
    }
  }
}

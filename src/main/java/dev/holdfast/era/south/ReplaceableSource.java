package dev.holdfast.era.south;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Message;
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
  private boolean interrupted;

  /** A source without messages. */
  ReplaceableSource() {
    this(MessageSource.of(List.of()));
  }

  ReplaceableSource(MessageSource first) {
    current = first;
  }

  List<UpstreamMessage> take() {
    return current.take();
  }

  /** Returns the next response; null at the end of the current source. */
  Message.@Nullable Response response() {
    return current.response();
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
        if (interrupted) {
          interrupted = false;
          boolean _ = Thread.interrupted(); // Meant for the opening.
        }
        if (isClosed()) {
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
      endWait();
      return first;
    }
  }

  /** Closes the current source, and interrupts the opening of the next one. */
  void endWait() {
    try (var _ = lock.hold()) {
      current.close();
      if (opening != null && !opening.equals(Thread.currentThread())) {
        interrupted = true;
        opening.interrupt();
      }
    }
  }
}

package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Messages of one stream on their way from the thread that reads the channel to the one that reads
 * the stream. When it is full the former waits, and with it the server; so a stream costs a bounded
 * amount of memory, whoever reads it or does not.
 */
final class StreamQueue {

  /** How many messages wait before the server does. */
  static final int MAX_MESSAGES = 64;

  /** How many bytes wait before the server does; a single message may be larger. */
  static final int MAX_BYTES = 1 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition readable = lock.newCondition();
  private final Condition writable = lock.newCondition();

  // All guarded by the lock.
  private List<UpstreamMessage> waiting = new ArrayList<>();
  private long waitingBytes;
  private boolean over;
  private @Nullable UpstreamException failure;

  /**
   * Waits for room and adds a message.
   *
   * @return false if the stream is over, and the message was not added
   */
  boolean put(byte[] message) {
    lock.lock();
    try {
      while (!over && !hasRoom()) {
        writable.awaitUninterruptibly();
      }
      return add(message);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds a message if there is room.
   *
   * @return whether it was added
   */
  boolean offer(byte[] message) {
    lock.lock();
    try {
      return hasRoom() && add(message);
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoom() {
    return waiting.isEmpty() || (waiting.size() < MAX_MESSAGES && waitingBytes < MAX_BYTES);
  }

  private boolean add(byte[] message) {
    if (over) {
      return false;
    }
    waiting.add(new UpstreamMessage(message, null));
    waitingBytes += message.length;
    readable.signalAll();
    return true;
  }

  /**
   * Waits until there is something to take.
   *
   * @param most how long; zero for ever
   * @return false if there was nothing for so long
   */
  boolean await(Duration most) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = most.isZero() ? Long.MAX_VALUE : most.toNanos();
      while (waiting.isEmpty() && !over) {
        if (left <= 0) {
          return false;
        }
        left = readable.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for messages and takes all there are.
   *
   * @param most how long; zero for ever
   * @return at least one message, or none at the end
   * @throws UpstreamException.TimedOut if there was nothing for so long
   * @throws UpstreamException after the last message, if the stream failed; once
   */
  List<UpstreamMessage> take(Duration most) throws InterruptedException {
    if (!await(most)) {
      throw new UpstreamException.TimedOut("its stream fell silent");
    }
    lock.lock();
    try {
      UpstreamException ended = failure;
      if (waiting.isEmpty() && ended != null) {
        failure = null;
        throw ended;
      }
      return drain();
    } finally {
      lock.unlock();
    }
  }

  private List<UpstreamMessage> drain() {
    List<UpstreamMessage> taken = waiting;
    waiting = new ArrayList<>();
    waitingBytes = 0;
    writable.signalAll();
    return taken;
  }

  /** Nothing more will come. What waits can still be taken. */
  void end() {
    finish(null);
  }

  /** Nothing more will come, and that is a failure. What waits can still be taken before it. */
  void fail(UpstreamException reason) {
    finish(reason);
  }

  /**
   * Nobody will read here any more, and nothing more will come.
   *
   * @return what was not read
   */
  List<UpstreamMessage> close() {
    lock.lock();
    try {
      finish(null);
      failure = null;
      return drain();
    } finally {
      lock.unlock();
    }
  }

  private void finish(@Nullable UpstreamException reason) {
    lock.lock();
    try {
      if (!over) {
        over = true;
        failure = reason;
      }
      readable.signalAll();
      writable.signalAll();
    } finally {
      lock.unlock();
    }
  }
}

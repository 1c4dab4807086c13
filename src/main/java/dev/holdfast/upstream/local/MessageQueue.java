package dev.holdfast.upstream.local;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages on their way from running calls, each of which has a {@link Writer}, to the one reader
 * of their answer. Ends when all writers are over and all messages are taken.
 */
final class MessageQueue {

  /** How many messages wait before writers do. */
  static final int MAX_MESSAGES = 64;

  /** How many bytes wait before writers do; a single message may be larger. */
  static final int MAX_BYTES = 1 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition readable = lock.newCondition();
  private final Condition writable = lock.newCondition();

  // All guarded by the lock.
  private List<UpstreamMessage> waiting = new ArrayList<>();
  private long waitingBytes;
  private int openWriters;
  private boolean broken;
  private boolean closed;

  /** Adds a message without waiting for room. For what is there before there is a reader. */
  void add(byte[] message) {
    lock.lock();
    try {
      append(message);
    } finally {
      lock.unlock();
    }
  }

  /** Opens a writer. All must be open before there is a reader, or it may see an end too early. */
  Writer open() {
    lock.lock();
    try {
      openWriters++;
      return new Writer();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for messages and takes all there are.
   *
   * @return at least one message, or none at the end or when closed
   * @throws UpstreamException.Broken after the last message, if it was broken off
   */
  List<UpstreamMessage> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty() && openWriters > 0 && !broken && !closed) {
        readable.await();
      }
      if (waiting.isEmpty() && broken && !closed) {
        closed = true;
        throw new UpstreamException.Broken("the local server was closed during the call", null);
      }
      List<UpstreamMessage> taken = waiting;
      waiting = new ArrayList<>();
      waitingBytes = 0;
      writable.signalAll();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** The reader goes: drops what waits, and all that would follow. */
  void close() {
    lock.lock();
    try {
      closed = true;
      waiting = new ArrayList<>();
      wakeAll();
    } finally {
      lock.unlock();
    }
  }

  /** The server goes: all that would follow is dropped, and the reader is told. */
  void breakOff() {
    lock.lock();
    try {
      broken |= openWriters > 0;
      wakeAll();
    } finally {
      lock.unlock();
    }
  }

  private void append(byte[] message) {
    waiting.add(new UpstreamMessage(message, null));
    waitingBytes += message.length;
    readable.signal();
  }

  private void wakeAll() {
    readable.signalAll();
    writable.signalAll();
  }

  /** One call's access to the queue. */
  final class Writer {

    // Guarded by the lock.
    private boolean finished;
    private boolean abandoned;

    /**
     * Waits for room and adds a message.
     *
     * @throws CancellationException if nobody wants it
     */
    void write(byte[] message) {
      lock.lock();
      try {
        if (!awaitRoom()) {
          throw new CancellationException("The call is over");
        }
        append(message);
      } finally {
        lock.unlock();
      }
    }

    /**
     * Waits for room and adds the last message. Does nothing if nobody wants it.
     *
     * @param before what to do before anybody can see the message; runs under the queue's lock
     */
    void finish(byte[] message, Runnable before) {
      lock.lock();
      try {
        if (awaitRoom()) {
          before.run();
          append(message);
          finished = true;
          end();
        }
      } finally {
        lock.unlock();
      }
    }

    /** Ends without a last message; does nothing if it came already. */
    void abandon() {
      lock.lock();
      try {
        if (!finished && !abandoned) {
          abandoned = true;
          end();
        }
      } finally {
        lock.unlock();
      }
    }

    /** Whether the last message did not come and will be dropped if it does. */
    boolean unwanted() {
      lock.lock();
      try {
        return !finished && (abandoned || broken || closed);
      } finally {
        lock.unlock();
      }
    }

    /** Waits through interrupts: whoever gives up on the call says so here before interrupting. */
    private boolean awaitRoom() {
      while (!isOver() && !hasRoom()) {
        writable.awaitUninterruptibly();
      }
      return !isOver();
    }

    private boolean isOver() {
      return finished || abandoned || broken || closed;
    }

    private boolean hasRoom() {
      return waiting.isEmpty() || (waiting.size() < MAX_MESSAGES && waitingBytes < MAX_BYTES);
    }

    private void end() {
      openWriters--;
      wakeAll();
    }
  }
}

package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a server says that belongs to no request. It has one reader at a time, or none: then a
 * little is kept for one to come. Thread-safe.
 */
final class UnsolicitedStream {

  private static final Logger LOG = System.getLogger(UnsolicitedStream.class.getName());

  private final String name;
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private StreamQueue queue = new StreamQueue();
  private boolean listened;
  private boolean dropping;
  private boolean over;

  /**
   * @param name what log lines are marked with
   */
  UnsolicitedStream(String name) {
    this.name = name;
  }

  /**
   * Begins to read, with what came before. Who read until now sees the end.
   *
   * @throws UpstreamException.SessionGone if the channel has ended
   */
  StreamQueue listen() {
    lock.lock();
    try {
      if (over) {
        throw new UpstreamException.SessionGone();
      }
      renew();
      listened = true;
      dropping = false;
      return queue;
    } finally {
      lock.unlock();
    }
  }

  /** A reader goes. What it has not read waits for the next one. */
  void stopListening(StreamQueue reader) {
    lock.lock();
    try {
      if (queue == reader && !over) {
        renew();
        listened = false;
      }
    } finally {
      lock.unlock();
    }
    List<UpstreamMessage> _ = reader.close();
  }

  private void renew() {
    StreamQueue next = new StreamQueue();
    queue.close().forEach(message -> next.offer(message.payload()));
    queue = next;
  }

  /**
   * Gives a message to the reader, and waits for room. Without a reader it does not wait: there may
   * never be one.
   *
   * @return false if the reader has come or gone meanwhile; then it is to be tried again
   */
  boolean give(byte[] message) {
    StreamQueue reader;
    lock.lock();
    try {
      if (over) {
        return true;
      }
      if (!listened) {
        keep(message);
        return true;
      }
      reader = queue;
    } finally {
      lock.unlock();
    }
    return reader.put(message);
  }

  private void keep(byte[] message) {
    if (!queue.offer(message) && !dropping) {
      dropping = true;
      LOG.log(
          Level.WARNING,
          "upstream={0} says more unasked than is kept for a session that nobody listens to",
          name);
    }
  }

  /** The channel has ended. Idempotent. */
  void end() {
    lock.lock();
    try {
      over = true;
      queue.fail(new UpstreamException.SessionGone());
    } finally {
      lock.unlock();
    }
  }
}

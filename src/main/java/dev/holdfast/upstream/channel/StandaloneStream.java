package dev.holdfast.upstream.channel;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import org.jboss.logging.Logger;

/**
 * The messages of a server that belong to no request. The stream has at most one reader. Without a
 * reader it keeps one full queue for the next one. Thread-safe.
 */
final class StandaloneStream {

  private static final Logger LOG = Logger.getLogger(StandaloneStream.class);

  private final String upstream;
  private final ByteBudget budget;
  private final AutoLock lock = new AutoLock();

  // All guarded by the lock.
  private MessageQueue queue;
  private MessageQueue.Writer writer;
  private State state = State.UNREAD;

  private enum State {
    UNREAD,
    /** There is no reader, and the queue is full. */
    DROPPING,
    READ,
    ENDED
  }

  StandaloneStream(String upstream, ByteBudget budget) {
    this.upstream = upstream;
    this.budget = budget;
    queue = new MessageQueue(budget);
    writer = queue.newWriter(_ -> {});
  }

  /** Starts reading with the waiting messages. The previous reader sees the end. */
  MessageSource listen() {
    try (var _ = lock.hold()) {
      if (state == State.ENDED) {
        throw new UpstreamException.SessionGone();
      }
      replaceQueue();
      state = State.READ;
      MessageQueue read = queue;
      return new MessageQueue.Source(read, () -> stopReading(read));
    }
  }

  /** Keeps unread messages for the next reader. */
  private void stopReading(MessageQueue read) {
    try (var _ = lock.hold()) {
      if (queue == read && state != State.ENDED) {
        replaceQueue();
        state = State.UNREAD;
      }
      var _ = read.close();
    }
  }

  private void replaceQueue() {
    MessageQueue next = new MessageQueue(budget);
    queue.close().forEach(message -> next.add(message.payload()));
    queue = next;
    writer = next.newWriter(_ -> {});
  }

  /**
   * Adds a message. Waits for room only if the stream has a reader, because a reader may never
   * come. False if the reader changed during the wait; the caller must try again.
   */
  boolean write(byte[] message) {
    MessageQueue.Writer current;
    try (var _ = lock.hold()) {
      if (state == State.UNREAD || state == State.DROPPING) {
        keep(message);
      }
      if (state != State.READ) {
        return true;
      }
      current = writer;
    }
    return current.write(message);
  }

  private void keep(byte[] message) {
    if (!writer.offer(message) && state != State.DROPPING) {
      state = State.DROPPING;
      LOG.warnf("standalone stream has no reader, messages dropped upstream=%s", upstream);
    }
  }

  void end() {
    try (var _ = lock.hold()) {
      switch (state) {
        case READ -> queue.fail(new UpstreamException.SessionGone());
        case UNREAD, DROPPING -> {
          var _ = queue.close();
        }
        case ENDED -> {}
      }
      state = State.ENDED;
    }
  }
}

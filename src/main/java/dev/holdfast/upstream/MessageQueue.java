package dev.holdfast.upstream;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue between the writers of a stream and its one reader. A writer waits while the
 * queue is full, so a slow reader holds its writers back. The stream ends when all its writers have
 * ended and all its messages are taken. Thread-safe.
 */
public final class MessageQueue {

  /** Number of messages that fill the queue. */
  public static final int MAX_MESSAGES = 64;

  /** Number of bytes that fill the queue. A single message may be larger. */
  public static final int MAX_BYTES = 1 << 20;

  private final ByteBudget budget;
  private final AutoLock lock = new AutoLock();
  private final Condition readable = lock.newCondition();
  private final Condition writable = lock.newCondition();

  // All guarded by the lock.
  private List<UpstreamMessage> waiting = new ArrayList<>();
  private long waitingBytes;

  /** Bytes of the last messages that the reader has taken, until it wants more. */
  private long takenBytes;

  private int openWriters;
  private boolean closed; // by the reader, or by a failure
  private @Nullable UpstreamException failure;

  /** Creates an empty queue. While its budget is exceeded, one message fills it. */
  public MessageQueue(ByteBudget budget) {
    this.budget = budget;
  }

  /**
   * Opens a writer. The reader must not take before all writers are open: it could see an early
   * end. {@code onEnd} runs once, under the lock of the queue and before the reader can see the
   * last message.
   */
  public Writer newWriter(Consumer<Writer> onEnd) {
    try (var _ = lock.hold()) {
      openWriters++;
      return new Writer(onEnd);
    }
  }

  /** Adds a message at once, even to a full queue. Meant for messages that precede the reader. */
  public void add(byte[] message) {
    try (var _ = lock.hold()) {
      append(new UpstreamMessage(message, null));
    }
  }

  /**
   * Waits until the reader can take a message or sees the end. Returns false after a timeout; zero
   * is none.
   */
  public boolean await(Duration timeout) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      giveBackTaken();
      long left = timeout.toNanos();
      while (waiting.isEmpty() && openWriters > 0 && !closed) {
        if (timeout.isZero()) {
          readable.await();
        } else if (left <= 0) {
          return false;
        } else {
          left = readable.awaitNanos(left);
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for messages and takes all of them.
   *
   * @param timeout zero for no bound
   * @return at least one message; an empty list at the end
   * @throws UpstreamException.TimedOut after a timeout
   * @throws UpstreamException once, after the last message of a stream that failed
   */
  public List<UpstreamMessage> take(Duration timeout) throws InterruptedException {
    if (!await(timeout)) {
      throw new UpstreamException.TimedOut(
          "its stream fell silent", UpstreamException.TimedOut.IDLE);
    }
    try (var _ = lock.hold()) {
      UpstreamException thrown = failure;
      if (waiting.isEmpty() && thrown != null) {
        failure = null;
        throw thrown;
      }
      return drain();
    }
  }

  /** Fails the stream unless it has ended. The reader gets the waiting messages first. */
  public void fail(UpstreamException reason) {
    try (var _ = lock.hold()) {
      if (openWriters > 0 && !closed) {
        closed = true;
        failure = reason;
        readable.signalAll();
        writable.signalAll();
      }
    }
  }

  /**
   * Ends the stream for its reader, and returns the messages that were not read. Drops all further
   * messages. Idempotent.
   */
  public List<UpstreamMessage> close() {
    try (var _ = lock.hold()) {
      closed = true;
      failure = null;
      readable.signalAll();
      List<UpstreamMessage> unread = drain();
      giveBackTaken();
      return unread;
    }
  }

  private List<UpstreamMessage> drain() {
    List<UpstreamMessage> taken = waiting;
    waiting = new ArrayList<>();
    takenBytes += waitingBytes;
    waitingBytes = 0;
    writable.signalAll();
    return taken;
  }

  private void giveBackTaken() {
    budget.giveBack(takenBytes);
    takenBytes = 0;
  }

  private void append(UpstreamMessage message) {
    waiting.add(message);
    waitingBytes += message.payload().length;
    budget.take(message.payload().length);
    readable.signalAll();
  }

  /** Returns true if no message will follow those that wait. */
  private boolean isWhole() {
    try (var _ = lock.hold()) {
      return openWriters == 0 && !waiting.isEmpty();
    }
  }

  private boolean hasRoom() {
    return waiting.isEmpty()
        || (waiting.size() < MAX_MESSAGES && waitingBytes < MAX_BYTES && !budget.isExceeded());
  }

  /** One of the writers of the queue. */
  public final class Writer {

    private enum State {
      OPEN,
      FINISHED,
      ABANDONED
    }

    // Guarded by the lock.
    private State state = State.OPEN;

    private final Consumer<Writer> onEnd;

    private Writer(Consumer<Writer> onEnd) {
      this.onEnd = onEnd;
    }

    /**
     * Waits for room and adds a message. Interrupts do not end the wait. False if the writer or the
     * stream has ended; the message is dropped.
     */
    public boolean write(byte[] message) {
      return write(new UpstreamMessage(message, null));
    }

    /** Writes a message as {@link #write(byte[])} does. */
    public boolean write(UpstreamMessage message) {
      return put(message, State.OPEN);
    }

    /** Adds a message unless the queue is full or the budget is exceeded. */
    public boolean offer(byte[] message) {
      try (var _ = lock.hold()) {
        return hasRoom() && !budget.isExceeded() && write(message);
      }
    }

    /**
     * Waits for room, adds the last message and ends the writer. Does nothing after the end of the
     * writer or of the stream.
     */
    public void finish(UpstreamMessage message) {
      boolean _ = put(message, State.FINISHED);
    }

    private boolean put(UpstreamMessage message, State next) {
      try (var _ = lock.hold()) {
        while (state == State.OPEN && !closed && !hasRoom()) {
          writable.awaitUninterruptibly();
        }
        if (state != State.OPEN || closed) {
          return false;
        }
        append(message);
        moveTo(next);
        return true;
      }
    }

    /** Ends the writer without a last message. Idempotent, also after a last message. */
    public void abandon() {
      try (var _ = lock.hold()) {
        moveTo(State.ABANDONED);
      }
    }

    /**
     * Returns whether the writer has lost its reader, or was abandoned, before its last message.
     */
    public boolean isCancelled() {
      try (var _ = lock.hold()) {
        return state == State.ABANDONED || (state == State.OPEN && closed);
      }
    }

    private void moveTo(State next) {
      if (state == State.OPEN && next != State.OPEN) {
        state = next;
        openWriters--;
        onEnd.accept(this);
        readable.signalAll();
        writable.signalAll();
      }
    }
  }

  /**
   * The reader's end of a queue. For one reading thread.
   *
   * @param idleTimeout bound of the writers' silence; zero for none
   * @param onTimeout runs after a timeout, before {@link #take()} throws
   * @param onClose closes the queue; idempotent
   */
  public record Source(
      MessageQueue queue, Duration idleTimeout, Runnable onTimeout, Runnable onClose)
      implements MessageSource {

    /** Reads a queue whose writers may be silent for ever. */
    public Source(MessageQueue queue, Runnable onClose) {
      this(queue, Duration.ZERO, () -> {}, onClose);
    }

    @Override
    public List<UpstreamMessage> take() {
      try {
        return queue.take(idleTimeout);
      } catch (UpstreamException.TimedOut e) {
        onTimeout.run();
        throw e;
      } catch (InterruptedException e) {
        close();
        throw UpstreamException.Broken.interrupted(e);
      }
    }

    @Override
    public boolean hasArrived() {
      return queue.isWhole();
    }

    @Override
    public void close() {
      onClose.run();
    }
  }
}

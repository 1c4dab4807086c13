package dev.holdfast.log;

import dev.holdfast.lock.AutoLock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Flow control from the connected reader of a stream to its writer. The writer may be ahead of the
 * reader by some events and bytes only. Without a connected reader there is no limit. All adapters
 * of {@link EventLog} use this class. Thread-safe.
 */
public final class ReaderWindow {

  /** Number of a reader on another replica. Those of this replica have positive numbers. */
  public static final long REMOTE = 0;

  /** Events that a writer may be ahead, unless the stream keeps few. */
  private static final int MAX_EVENTS = 2000;

  /** Bytes that a writer may be ahead, unless the stream keeps few. */
  private static final long MAX_BYTES = 2 << 20;

  /** The part of the limits of a stream that a window may fill. */
  private static final int LIMIT_PART = 4;

  /** Upper bound of one wait, in case the end of a reader was not noticed. */
  private static final long CHECK_MILLIS = 1000;

  /** Time for which a reader that has left is expected back. */
  private static final long RETURN_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Number of a reader that will come soon: a client waits for the answer, or has just left. */
  public static final long EXPECTED = -1;

  private static final long NOBODY = -2;

  private final long maxEvents;
  private final long maxBytes;

  /** Guards all fields below. */
  private final AutoLock lock = new AutoLock();

  private final Condition changed = lock.newCondition();

  /** The connected reader, or {@link #NOBODY}. */
  private long reader = NOBODY;

  /** True if the expected reader was connected before. */
  private boolean hasLeft;

  /** Nano time at which it left. */
  private long leftAt;

  /** The last event that the reader has. */
  private Position read = Position.START;

  /** The number of the newest event. */
  private long written;

  /** Bytes that were written together, up to an event. */
  private record Chunk(long upTo, long bytes) {}

  /** Chunks that the connected reader does not have. */
  private final Deque<Chunk> chunks = new ArrayDeque<>(2);

  private long unreadBytes;

  /** Events and bytes that were read since {@link #takeNews}. */
  private long newsEvents;

  private long newsBytes;

  /** Creates the window of a stream with these limits. */
  public ReaderWindow(Retention retention) {
    this.maxEvents = maxEvents(retention);
    this.maxBytes = maxBytes(retention);
  }

  /** The most events by which a writer may be ahead. */
  public static long maxEvents(Retention retention) {
    return Math.clamp(retention.maxEvents() / LIMIT_PART, 1, MAX_EVENTS);
  }

  /** The most bytes by which a writer may be ahead. One event may have more. */
  public static long maxBytes(Retention retention) {
    return Math.clamp(retention.maxStreamBytes() / LIMIT_PART, 1, MAX_BYTES);
  }

  /**
   * Notes that a reader follows the stream.
   *
   * @param number the {@link WatcherRegistry.Registration#number()}, or {@link #REMOTE}
   * @param cursor the last event that it has
   */
  public void connect(long number, Position cursor) {
    try (var _ = lock.hold()) {
      reader = number;
      hasLeft = false;
      read = cursor;
      dropRead();
      changed.signalAll();
    }
  }

  /**
   * Notes that a reader has left. It is expected back for two seconds, because a replica that stops
   * sends its clients to others. Does nothing if another reader has replaced it. {@link #EXPECTED}
   * is a first reader that has not come.
   */
  public void disconnect(long number) {
    try (var _ = lock.hold()) {
      if (reader == number && number == EXPECTED && !hasLeft) {
        disconnectAll();
      } else if (reader == number && number >= REMOTE) {
        reader = EXPECTED;
        hasLeft = true;
        leftAt = System.nanoTime();
      }
    }
  }

  /** Notes that the store knows of no reader, as {@link #disconnect} does. */
  public void disconnectAny() {
    try (var _ = lock.hold()) {
      disconnect(reader);
    }
  }

  /**
   * Notes that a reader is connected that has not been heard of yet.
   *
   * @param cursor what it has at best
   */
  public void expect(Position cursor) {
    try (var _ = lock.hold()) {
      if (reader == NOBODY) {
        connect(EXPECTED, cursor);
      }
    }
  }

  /** Notes that no reader is connected, and that none will return. */
  public void disconnectAll() {
    try (var _ = lock.hold()) {
      reader = NOBODY;
      hasLeft = false;
      chunks.clear();
      unreadBytes = 0;
      changed.signalAll();
    }
  }

  /** Notes a reader on another replica. */
  public void connectRemote(Position cursor) {
    try (var _ = lock.hold()) {
      if (reader == REMOTE) {
        advance(REMOTE, cursor);
      } else {
        connect(REMOTE, cursor);
      }
    }
  }

  /** Notes how far a reader is. It counts as connected from now on, if nobody else is. */
  public void advance(long number, Position cursor) {
    try (var _ = lock.hold()) {
      boolean wasFull = isFull();
      if (reader == NOBODY || reader == EXPECTED) {
        connect(number, cursor);
      }
      if (reader == number && cursor.number() > read.number()) {
        newsEvents += cursor.number() - read.number();
        read = cursor;
        dropRead();
      }
      if (wasFull && !isFull()) {
        changed.signalAll();
      }
    }
  }

  private void dropRead() {
    long before = unreadBytes;
    while (!chunks.isEmpty() && chunks.getFirst().upTo() <= read.number()) {
      unreadBytes -= chunks.removeFirst().bytes();
    }
    newsBytes += before - unreadBytes;
  }

  /**
   * Takes the news of a reader of this replica for the store: its position if it has read half a
   * window since the last one, empty for no news, {@code -} without a reader here.
   */
  public String takeNews() {
    try (var _ = lock.hold()) {
      if (reader == NOBODY || reader == REMOTE || hasLeft) {
        return "-";
      }
      if (newsEvents < maxEvents / 2 && newsBytes < maxBytes / 2) {
        return "";
      }
      newsEvents = 0;
      newsBytes = 0;
      return read.toString();
    }
  }

  /** Notes that the log has events up to a position, with these bytes of payloads. */
  public void wrote(Position last, long bytes) {
    try (var _ = lock.hold()) {
      written = last.number();
      dropLost();
      if (reader != NOBODY && read.number() < written) {
        unreadBytes += bytes;
        chunks.addLast(new Chunk(written, bytes));
      }
    }
  }

  /** Returns true while a reader on this replica is connected. */
  public boolean isFollowedHere() {
    try (var _ = lock.hold()) {
      return reader > REMOTE;
    }
  }

  /** Returns true while a reader is connected anywhere, or a first one expected. */
  public boolean isFollowed() {
    try (var _ = lock.hold()) {
      return reader != NOBODY && !hasLeft;
    }
  }

  /** Returns true while the writer must wait. */
  public boolean isClosed() {
    try (var _ = lock.hold()) {
      return isFull();
    }
  }

  private void dropLost() {
    if (hasLeft && System.nanoTime() - leftAt >= RETURN_NANOS) {
      disconnectAll();
    }
  }

  private boolean isFull() {
    dropLost();
    return reader != NOBODY && (written - read.number() >= maxEvents || unreadBytes >= maxBytes);
  }

  /**
   * Waits while the writer is too far ahead of its reader.
   *
   * @param stopped whether to wait no longer; {@link #wake} makes the writer ask
   * @param check notes where the reader is now, or that it has left. Runs from time to time, in
   *     case a notice was lost; must not block for long
   */
  public void await(BooleanSupplier stopped, Runnable check) throws InterruptedException {
    while (isClosed() && !stopped.getAsBoolean()) {
      boolean signalled;
      lock.lockInterruptibly();
      try {
        signalled =
            !isFull()
                || stopped.getAsBoolean()
                || changed.await(CHECK_MILLIS, TimeUnit.MILLISECONDS);
      } finally {
        lock.unlock();
      }
      if (!signalled) {
        check.run();
      }
    }
  }

  /** Lets a writer that waits look whether it is stopped. */
  public void wake() {
    try (var _ = lock.hold()) {
      changed.signalAll();
    }
  }
}

package dev.holdfast.log;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The log of all streams of all sessions.
 *
 * <p>All methods block briefly, with a time limit, and are thread-safe. Every replica on the same
 * store can read the events of all replicas. Unless stated otherwise, methods throw {@link
 * LogException.StoreUnavailable} when the store does not answer in time.
 */
public interface EventLog extends AutoCloseable {

  /**
   * Begins a session, so that streams can be opened in it.
   *
   * @param client whose share of the log the session takes; empty when unknown
   */
  void begin(LogKey key, String client);

  /**
   * Ends a session on every replica: removes its events, fences its writers and wakes its watchers.
   * Does nothing for an unknown session.
   */
  void end(LogKey key);

  /**
   * Opens a new stream with this replica as its owner. When this method returns, the ownership is
   * recorded: if this replica is lost, another one finds the stream and completes it.
   *
   * <p>A shared stream can keep the events. The new stream then still has its own owner, event
   * count and end. The shared stream numbers the events of all its streams together, in the order
   * of the writes. The log does not keep an event without a payload there; such an event can only
   * end its stream.
   *
   * @param stream a name not used in this session before
   * @param requests the JSON-RPC ids of the requests that the stream answers, as JSON text; empty
   *     for a stream that answers none
   * @param tool the name of the tool that is called, for {@link StreamIndex}; empty for other
   *     requests
   * @param sharedStream the name of an open {@link #openShared shared} stream of the same session;
   *     null for a stream that keeps its events itself
   * @return the writer, at the start of the stream
   * @throws LogException.SessionEnded when there is no such session or no such shared stream
   * @throws LogException.TooManyStreams when the session has the maximum of open streams
   * @throws LogException.Fenced when the stream exists already
   */
  StreamWriter open(StreamRef stream, String requests, String tool, @Nullable String sharedStream);

  /** Opens a new stream that calls no tool. */
  default StreamWriter open(StreamRef stream, String requests, @Nullable String sharedStream) {
    return open(stream, requests, "", sharedStream);
  }

  /**
   * Opens a new stream that answers no requests, as {@link #open} does, before a client follows it.
   */
  default StreamWriter openUnfollowed(StreamRef stream, @Nullable String sharedStream) {
    return open(stream, "", sharedStream);
  }

  /** Opens a new stream that keeps its events itself. */
  default StreamWriter open(StreamRef stream, String requests) {
    return open(stream, requests, null);
  }

  /**
   * Opens a shared stream. It has no owner and no writer; it keeps the events of streams that are
   * opened {@link #open with its name}. Readers and watchers use it like any other stream. It
   * counts as an open stream and ends with its session. Does nothing when the stream is open.
   *
   * @throws LogException.SessionEnded when there is no such session
   * @throws LogException.TooManyStreams when the session has the maximum of open streams
   */
  void openShared(StreamRef stream);

  /** Events of a page that is large enough for a burst to go out in few writes. */
  int PAGE_EVENTS = 500;

  /** Bytes of a page that is large enough for a burst and small enough for the heap. */
  long PAGE_BYTES = 1 << 20;

  /**
   * Reads the events after a cursor.
   *
   * @param after the position of the last event that the reader has; {@link Position#START} for
   *     none
   * @param maxEvents maximum number of events to return, at least one
   * @param maxBytes maximum number of bytes of their payloads. A larger event is returned alone.
   *     The log does not fetch more than that from its store
   */
  ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes);

  /** Reads the events after a cursor, at most {@value #PAGE_BYTES} bytes. */
  default ReadResult read(StreamRef stream, Position after, int maxEvents) {
    return read(stream, after, maxEvents, PAGE_BYTES);
  }

  /**
   * Reads as {@link #read(StreamRef, Position, int, long)} does, but only events that the store has
   * and beside the tail of the stream: the copy of recent events that the tail reads stays as it
   * is.
   */
  default ReadResult readStored(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return read(stream, after, maxEvents, maxBytes);
  }

  /**
   * The position of the newest event that the store has, or had while the stream is open.
   *
   * @return empty if there is no such stream
   */
  Optional<Position> newest(StreamRef stream);

  /**
   * The position of the newest kept event that was written at a time or before.
   *
   * @param millis since the epoch, by the clock of the store
   * @return empty if there is none
   */
  Optional<Position> newestUntil(StreamRef stream, long millis);

  /**
   * Begins a read without waiting for the store.
   *
   * @return waits for the result and returns or throws it, as {@link #read(StreamRef, Position,
   *     int, long)} does
   */
  default Supplier<ReadResult> readAhead(
      StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return () -> read(stream, after, maxEvents, maxBytes);
  }

  /**
   * The cursor from which a reader continues after a gap.
   *
   * @return the position before the oldest kept event; the last position of an open stream that
   *     keeps none; empty when there is no such stream
   */
  Optional<Position> beforeOldest(StreamRef stream);

  /** The same cursor after a read that found a gap; empty when nothing is known to be left. */
  default Optional<Position> beforeRest(StreamRef stream, ReadResult.Gap gap) {
    return gap.resumeAfter().or(() -> beforeOldest(stream));
  }

  /**
   * Makes the caller the only tail of the stream on all replicas, and evicts the previous tail. The
   * log wakes the watcher when there may be new events. Wake-ups can be spurious. One that is lost
   * with a connection to the store comes some seconds late.
   *
   * <p>As long as it watches, the log does not purge events that it has not {@link Watch#advanced
   * received}, and {@link StreamWriter#awaitRoom} holds the writer back.
   *
   * @param cursor the last event that the reader has; null for {@link #deliveredUpTo}
   * @param watcher called on threads of the log; must return at once
   * @return closing it ends the watch
   */
  Watch watch(StreamRef stream, @Nullable Position cursor, Watcher watcher);

  /**
   * Adds a watcher that shares the stream with any number of others, each with a filter of its own,
   * for example. It evicts nobody, and the log neither keeps events nor holds the writer back for
   * it. It is woken as {@link #watch} says, but at once only by a writer on this replica.
   *
   * @param watcher as for {@link #watch}; only {@link Watcher#wake} is called
   * @return closing it ends the watch
   */
  Watch watchShared(StreamRef stream, Watcher watcher);

  /**
   * Returns true if this replica writes the stream. Then a tail here may also receive {@link
   * StreamWriter#deliverUnlogged unlogged} events. Does not call the store.
   */
  boolean isWrittenHere(StreamRef stream);

  /**
   * Records, without waiting for the store, the last position that was delivered to the client. A
   * later reader without a cursor starts there.
   */
  void markDelivered(StreamRef stream, Position position);

  /** The last position delivered to the client; {@link Position#START} when it is unknown. */
  Position deliveredUpTo(StreamRef stream);

  /**
   * Records, without waiting for the store, that a complete stream was delivered to its end. It
   * then gives way first when a quota is exceeded.
   *
   * @param keep whether the log keeps the stream for {@link Retention#eventTtl} all the same,
   *     because nothing proves that the client received the end; otherwise only for {@link
   *     Retention#completedTtl}. A later call without it shortens the time
   */
  void markFullyDelivered(StreamRef stream, boolean keep);

  /** Removes expired events and streams, unless the store does. Callers run it periodically. */
  void sweep();

  /**
   * Checks that every part of the store accepts events, and that notifications from other replicas
   * arrive. Takes seconds at most.
   *
   * @throws LogException.StoreUnavailable when a check fails
   */
  void check();

  /** The size of the log. The cost of the call does not depend on the size. */
  Size depth();

  /** Releases connections and memory. Does not notify watchers. */
  @Override
  void close();

  /** The registration of a {@link Watcher} with a stream. */
  interface Watch extends AutoCloseable {

    /**
     * The JSON-RPC ids of the requests that the stream answers, as {@link #open} recorded them.
     * Empty when it is complete, and for the first watcher on the replica that opened it. Those of
     * a {@link #openShared shared} stream are the requests of all open streams that it keeps.
     */
    default String requests() {
      return "";
    }

    /**
     * Notes that the client's socket has taken the events up to this one. Does not wait for the
     * store.
     *
     * @param bytes bytes of these events since the last call
     */
    default void advanced(Position cursor, long bytes) {}

    /**
     * Records, without waiting for the store, that nobody follows the stream, unless another tail
     * does by now. Not needed once the client has the end of the stream. {@link #close} comes after
     * it, also if it was called before.
     *
     * @param mayBeComplete false for a stream that does not complete as long as its session lives
     */
    default void leave(boolean mayBeComplete) {}

    /** Ends the watch. A call of the watcher that is under way may still complete. */
    @Override
    void close();
  }

  /** Receives notifications about one stream. Its methods must return at once. */
  interface Watcher {

    /** There may be new events, or the stream or its session may have ended. */
    void wake();

    /**
     * The log has stored events of the stream, on the thread that appended them.
     *
     * @param before position of the event before them
     * @return whether the watcher delivers them; if not, the log wakes it
     */
    default boolean deliver(Position before, List<LogEvent> events) {
      return false;
    }

    /**
     * A stream was opened whose events the watched {@link EventLog#openShared shared} stream keeps.
     *
     * @param requests the ids of the requests that it answers, as {@link EventLog#open} gets them
     */
    default void requested(String requests) {}

    /** A newer tail has replaced this one. */
    void evicted();
  }

  /**
   * The size of a log.
   *
   * @param events number of kept events; empty when the store cannot count them quickly
   * @param bytes memory of the whole store, which may hold more than the log; empty when the store
   *     does not report it
   * @param quotaUsed the used part of the bytes that all events together may have; 1 for all
   */
  record Size(OptionalLong events, OptionalLong bytes, OptionalDouble quotaUsed) {}
}

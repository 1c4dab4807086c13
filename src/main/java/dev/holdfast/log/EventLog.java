package dev.holdfast.log;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The log of every stream of every session.
 *
 * <p>All methods block their thread, briefly and with a bound, and are safe for any number of
 * threads. What one replica appends, every replica on the same store can read. Unless said
 * otherwise they throw {@link StoreUnavailableException} when the store cannot be reached in time.
 */
public interface EventLog extends AutoCloseable {

  /**
   * Starts to keep streams for a session.
   *
   * @param session the session's id
   */
  void begin(String session);

  /**
   * Ends a session: its events are removed, its writers are fenced and its watchers woken, on every
   * replica. Ending what is unknown does nothing.
   *
   * @param session the session's id
   */
  void end(String session);

  /**
   * Opens a new stream and makes this replica its owner. Once this has returned the ownership is
   * recorded, so that whatever is asked of an upstream afterwards can be found and settled by
   * others.
   *
   * @param stream a name not used in this session before
   * @param requests the JSON-RPC ids of the requests that the stream answers, as JSON text; empty
   *     for a stream that answers none
   * @return the writer, at the start of the stream
   * @throws SessionEndedException when there is no such session
   * @throws TooManyStreamsException when the session has as many open streams as it may
   * @throws FencedException when the stream exists already
   */
  default StreamWriter open(StreamRef stream, String requests) {
    return open(stream, requests, null);
  }

  /**
   * Opens a new stream likewise, whose events may be kept in another one: it has its own owner,
   * counts its own events and comes to its own end, but readers find them, in the order in which
   * they were written, in the {@link #openShared shared} stream that is named, numbered among those
   * of all others there. An event without a payload is not kept at all; it only ends its stream.
   *
   * @param into the name of an open shared stream of the same session; null for a stream that keeps
   *     its events itself
   * @throws SessionEndedException when there is no such session, or it has no such shared stream
   */
  StreamWriter open(StreamRef stream, String requests, @Nullable String into);

  /**
   * Opens a stream that nobody owns and that has no writer of its own: it keeps the events of
   * streams that are opened {@link #open(StreamRef, String, String) into} it. It is read and
   * watched like any other, counts as one of the session's open streams, and ends with the session.
   * Opening it again does nothing.
   *
   * @throws SessionEndedException when there is no such session
   * @throws TooManyStreamsException when the session has as many open streams as it may
   */
  void openShared(StreamRef stream);

  /**
   * Reads what follows a cursor.
   *
   * @param stream the stream
   * @param after the position of the last event that the reader has; {@link Position#START} for
   *     none
   * @param maxEvents the most events to return, at least one
   */
  ReadResult read(StreamRef stream, Position after, int maxEvents);

  /**
   * Where a reader goes on after a gap.
   *
   * @return the position just before the oldest event that is kept; the head of an open stream that
   *     keeps none; empty when there is no such stream
   */
  Optional<Position> beforeOldest(StreamRef stream);

  /**
   * Makes the caller the stream's one tail, on all replicas: the tail before it is told that it was
   * evicted. The watcher is woken when there may be something new to read. Wake-ups can be spurious
   * and, when a connection to the store breaks, can be lost; a reader also looks from time to time.
   *
   * @param watcher called on threads of the log; must return at once
   * @return ends the watch when closed
   */
  Watch watch(StreamRef stream, Watcher watcher);

  /**
   * Whether this replica writes the stream, so that a tail here may hear of events that the store
   * does not take. Does not ask the store.
   */
  boolean isWrittenHere(StreamRef stream);

  /**
   * Notes, without waiting for the store, up to where a stream was delivered to its client. A later
   * reader without a cursor of its own starts there.
   */
  void markDelivered(StreamRef stream, Position position);

  /** Up to where the stream was delivered; {@link Position#START} when that is not known. */
  Position deliveredUpTo(StreamRef stream);

  /**
   * Says, without waiting for the store, that a complete stream was delivered to its end: it is
   * kept only a short while longer.
   */
  void markFullyDelivered(StreamRef stream);

  /**
   * Removes what has expired. Called from time to time by the program; how much a store does here
   * and how much by itself is its own affair.
   */
  void sweep();

  /**
   * Tries whether the store takes events, all of it, and whether word comes of what others write.
   *
   * @throws StoreUnavailableException when it doesn't; said within seconds
   */
  void check();

  /** How much there is in the log. Costs next to nothing, however much that is. */
  LogSize depth();

  /** Gives back connections and memory. WatcherRegistry are not told. */
  @Override
  void close();
}

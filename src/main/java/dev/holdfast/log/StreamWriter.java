package dev.holdfast.log;

import java.util.List;

/**
 * The right to write one stream, held by its owner.
 *
 * <p>Thread-safe. Appends that meet are committed together: while one is on its way to the store,
 * later ones wait and go in one write, in the order of their calls.
 */
public interface StreamWriter {

  /** The stream that this writes. */
  StreamRef stream();

  /**
   * Where readers find what this writes: the stream itself or, when it was opened into another,
   * that one.
   */
  default StreamRef keptIn() {
    return stream();
  }

  /**
   * Writes events at the end of the stream and returns once the log holds them; from then on every
   * reader finds them. All are written, next to each other, or none. After an event that is {@link
   * NewEvent#last() last} the stream is complete and takes no more.
   *
   * @param events at least one
   * @return the position of the last of them; the others have the numbers before it. Of a stream
   *     that is kept in another it tells only how many events this stream has had
   * @throws FencedException when this is no longer the owner: the stream was taken over, is
   *     complete or its session has ended; nothing was written
   * @throws StoreUnavailableException when the store did not take them; nothing was written, the
   *     same call may be made again
   * @throws OutcomeUnknownException when the store may or may not have taken them; the same call,
   *     with the same events, may be made again and will not write them twice. Until then other
   *     appends to this stream wait behind it
   */
  Position append(List<NewEvent> events);

  /**
   * Gives events that the store did not take in time to the stream's watcher on this replica, past
   * the log. They get the next numbers of the stream, as do the events of an append whose outcome
   * is unknown, which are passed before them. No later reader finds any of them: it finds a gap.
   * Does not ask the store. Of a stream that is kept in another nothing is passed: nobody here
   * knows where that one stands.
   *
   * <p>What was passed is owed to the store: not the events, but word of where the stream stands.
   * The next append brings it, or {@link #recordSkipped()}.
   *
   * @param events at least one; those of an append that failed, or new ones
   * @return false when nothing was passed: nobody watches here, or not from where the stream
   *     stands, or it has much to read still, or the events were appended after all
   * @throws FencedException as {@link #append} does
   */
  boolean deliverUnlogged(List<NewEvent> events);

  /**
   * Tells the store where the stream stands, as far as events were passed before this call: what it
   * may have taken of them without an answer is removed, later readers find the gap, and if the
   * last event of the stream was passed the stream becomes complete. Does nothing when nothing is
   * owed.
   *
   * @throws FencedException when this is no longer the owner; nothing is owed any more
   * @throws StoreUnavailableException when the store was not told; to be called again
   * @throws OutcomeUnknownException when that is not known; to be called again
   */
  void recordSkipped();

  /**
   * Notes, without waiting for the store, from where the upstream's stream can be resumed, when
   * that is an event of the upstream that brought no message. Counts until an event is appended
   * that has an id of its own.
   *
   * @param upstreamId the upstream's own id of that event
   */
  void recordUpstreamCursor(String upstreamId);
}

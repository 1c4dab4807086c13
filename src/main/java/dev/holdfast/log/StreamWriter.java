package dev.holdfast.log;

import java.util.List;
import java.util.function.Consumer;

/**
 * Writes one stream for its owner.
 *
 * <p>Thread-safe. Appends are written one after another.
 */
public interface StreamWriter {

  /** The written stream. */
  StreamRef stream();

  /** The stream from which readers read the events: a shared stream or the written stream. */
  default StreamRef keptIn() {
    return stream();
  }

  /**
   * Returns true if a client follows the stream, or will soon. A client on another replica is known
   * from the last append on. Does not call the store.
   */
  default boolean isFollowed() {
    return true;
  }

  /**
   * Writes events at the end of the stream. When this method returns, the log holds them and every
   * reader finds them. The log writes all of them, consecutively, or none. After the {@link
   * NewEvent#last() last} event the stream is complete and accepts no more.
   *
   * @param events at least one
   * @return the position of the last event; the others have the preceding numbers. If a shared
   *     stream keeps the events, the position counts the events of this stream
   * @throws LogException.Fenced when this replica is no longer the owner: another replica adopted
   *     the stream, the stream is complete, or its session has ended. Nothing was written
   * @throws LogException.StoreUnavailable when nothing was written; the call may be repeated
   * @throws LogException.OutcomeUnknown when the events may have been written. The caller may
   *     repeat the call with the same events; the log does not write them twice. Until then, other
   *     appends to this stream wait
   */
  Position append(List<NewEvent> events);

  /**
   * Begins an {@link #append} and does not wait for it. Other appends wait for its end.
   *
   * @param then gets whether the log has the events; runs once, on a thread that must not be
   *     blocked. If it gets false, {@link #append} must be called with the same events before any
   *     others
   * @return false if that is not possible now; nothing was written, and {@code then} gets nothing
   */
  default boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    return false;
  }

  /**
   * Returns true if the events can be appended without getting too far ahead of a connected reader.
   * A true result may take room for them, which the next append gives back. Does not wait.
   */
  default boolean hasRoom(List<NewEvent> events) {
    return true;
  }

  /**
   * Waits until {@link #hasRoom}, until no reader is connected, or until {@link #stopWaiting}. An
   * append without this wait succeeds, too.
   */
  default void awaitRoom(List<NewEvent> events) throws InterruptedException {}

  /** Ends the waits for room, also all later ones. */
  default void stopWaiting() {}

  /**
   * Delivers events to the stream's watcher on this replica without the log. Used when the store
   * does not accept events in time. The events get the next numbers of the stream. Events of an
   * append with unknown outcome are delivered first. Later readers find a gap instead of these
   * events. Does not call the store.
   *
   * <p>The next append or {@link #recordSkipped()} records the skipped numbers in the store.
   *
   * @param events at least one: those of a failed append, or new ones
   * @return false when nothing was delivered: there is no watcher here, the watcher is not at the
   *     end of the stream, the events were appended after all, or a shared stream keeps the events
   * @throws LogException.Fenced as {@link #append} does
   */
  boolean deliverUnlogged(List<NewEvent> events);

  /**
   * Records the numbers of all unlogged events in the store. Removes copies that the store wrote
   * without confirming, so later readers find the gap. Completes the stream if its last event was
   * unlogged. Does nothing when no number is unrecorded.
   *
   * @throws LogException.Fenced when this replica is no longer the owner; nothing is left to record
   * @throws LogException.StoreUnavailable when nothing was recorded; the caller must repeat the
   *     call
   * @throws LogException.OutcomeUnknown when that is unknown; the caller must repeat the call
   */
  void recordSkipped();

  /**
   * Lets go of an open stream to which nothing more is written. It stays open and has no owner, so
   * no replica adopts it. Does not wait; this replica stays the owner if the store does not answer.
   */
  default void release() {}

  /**
   * Records the id from which the upstream's stream can be resumed. Used when the upstream sends an
   * event id without a message. The next appended event with an id replaces it. Does not wait for
   * the store.
   *
   * @param upstreamId the upstream's own id of that event
   */
  void recordUpstreamCursor(String upstreamId);
}

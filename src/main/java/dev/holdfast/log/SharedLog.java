package dev.holdfast.log;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The additional operations of a log that several replicas share. Some give streams a new owner
 * after the loss of a replica. The default methods are for a log with one replica, {@link #NONE}.
 *
 * <p>All methods throw {@link LogException.StoreUnavailable} when the store does not answer in
 * time.
 */
public interface SharedLog {

  /** For a log with one replica: there are no other replicas. */
  SharedLog NONE = new SharedLog() {};

  /** The inboxes of the sessions in this log. */
  default Inbox inbox() {
    return Inbox.NONE;
  }

  /**
   * Finds what lost messages of other replicas should have told: wakes local watchers of streams
   * that have changed since the last call, evicts those that another replica has replaced, reads
   * messages in inboxes, and forgets sessions that have ended.
   *
   * @param which the keys to look at
   */
  default void catchUp(Predicate<LogKey> which) {}

  /**
   * Returns true if the record of this replica may differ from what runs here, since the last call:
   * the store did not answer, so that a stream may have been opened or adopted after all.
   */
  default boolean takeDoubts() {
    return false;
  }

  /**
   * Transfers all open streams of a session from a lost replica to this one. If several replicas
   * try, exactly one gets each stream. The lost replica is fenced, in case it is still alive.
   *
   * <p>After a failure this replica may own streams that it does not write. The caller must repeat
   * the call, which then returns these streams too.
   *
   * @return the adopted streams; empty when the session has ended or other replicas were faster
   */
  default List<AdoptedStream> adopt(LogKey key, String lost) {
    return List.of();
  }

  /**
   * Finds orphaned streams: this replica is their owner on record, but does not write them. Either
   * a failed call opened or adopted them after all, or the store lost their end. The result can
   * include streams that are being opened or adopted right now. A stream is orphaned for certain if
   * a later call finds it again with the same owner.
   *
   * @return the orphaned streams and their owners on record
   */
  default Map<StreamRef, String> findOrphaned(Collection<LogKey> keys) {
    return Map.of();
  }

  /**
   * Makes this replica the owner of some of its own streams again, so that it can write them.
   *
   * @return the reclaimed streams; not those that are complete or owned by another replica
   */
  default List<AdoptedStream> reclaim(LogKey key, Set<String> names) {
    return List.of();
  }

  /**
   * Finds streams that other replicas adopted while this one was considered lost.
   *
   * @param streams streams that this replica opened or adopted
   * @return those that this replica no longer owns
   */
  default Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    return Set.of();
  }

  /**
   * An open stream that this replica has adopted.
   *
   * @param writer continues after the last event of the previous owner, which is fenced
   * @param requests the JSON-RPC ids of the requests that the stream answers, as {@link
   *     EventLog#open} recorded them
   * @param upstreamId the upstream's own id of the newest event that has one, from which the
   *     upstream stream can be resumed; null when none has
   */
  record AdoptedStream(StreamWriter writer, String requests, @Nullable String upstreamId) {

    /** The stream. */
    public StreamRef stream() {
      return writer.stream();
    }
  }
}

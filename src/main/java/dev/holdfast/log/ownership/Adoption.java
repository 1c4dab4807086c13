package dev.holdfast.log.ownership;

import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Gives streams a new owner after the loss of a replica. Only a log that several replicas share
 * implements this interface.
 *
 * <p>All methods throw {@link LogException.StoreUnavailable} when the store does not answer in
 * time.
 */
public interface Adoption {

  /**
   * Transfers all open streams of a session from a lost replica to this one. If several replicas
   * try, exactly one gets each stream. The lost replica is fenced, in case it is still alive.
   *
   * <p>After a failure this replica may own streams that it does not write. The caller must repeat
   * the call, which then returns these streams too.
   *
   * @param session the session's id
   * @param lost the id of the replica
   * @return the adopted streams; empty when the session has ended or other replicas were faster
   */
  List<AdoptedStream> adopt(String session, String lost);

  /**
   * Finds orphaned streams: this replica is their owner on record, but does not write them. Either
   * a failed call opened or adopted them after all, or the store lost their end. The result can
   * include streams that are being opened or adopted right now. A stream is orphaned for certain if
   * a later call finds it again with the same owner.
   *
   * @param sessions ids of the sessions to search
   * @return the orphaned streams and their owners on record
   */
  Map<StreamRef, String> findOrphaned(Collection<String> sessions);

  /**
   * Makes this replica the owner of some of its own streams again, so that it can write them.
   *
   * @param session the session's id
   * @param names the names of the streams
   * @return the reclaimed streams; not those that are complete or owned by another replica
   */
  List<AdoptedStream> reclaim(String session, Set<String> names);

  /**
   * Finds streams that other replicas adopted while this one was considered lost.
   *
   * @param streams streams that this replica opened or adopted
   * @return those that this replica no longer owns
   */
  Set<StreamRef> findTakenOver(Collection<StreamRef> streams);
}

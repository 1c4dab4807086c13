package dev.holdfast.log.ownership;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Streams that change their owner because a replica was lost. A log that all replicas share offers
 * it; where there is one replica only, there is nothing to adopt.
 *
 * <p>All methods throw {@link StoreUnavailableException} when the store cannot be reached in time.
 */
public interface Adoption {

  /**
   * Makes this replica the owner of every open stream of a session that belongs to another. Of all
   * replicas that try, one gets each stream. From then on the former owner is fenced, should it be
   * alive after all.
   *
   * <p>After a failure some streams may be claimed for this replica while nobody writes them; the
   * same call must be made again, and then returns those as well.
   *
   * @param session the session's id
   * @param former the id of the replica that was lost
   * @return what was claimed; empty when the session has ended or others were faster
   */
  List<AdoptedStream> adopt(String session, String former);

  /**
   * Finds streams that are on record as this replica's and that it does not write: they were opened
   * or adopted in spite of a failure, or the store has lost their end. Some that are only just
   * being opened or adopted may be among them; what is found again a moment later, with the same
   * owner, is one that nobody will ever write.
   *
   * @param sessions where to look, by id
   * @return what is on record as their owner
   */
  Map<StreamRef, String> findOrphaned(Collection<String> sessions);

  /**
   * Makes this replica the owner of some of its own streams once more, so that it can write them.
   *
   * @param session the session's id
   * @param names the names of the streams
   * @return what was claimed; a stream that is complete or another's by now is not
   */
  List<AdoptedStream> reclaim(String session, Set<String> names);

  /**
   * Finds out which streams were taken from this replica while it was thought lost.
   *
   * @param streams streams that it opened or adopted
   * @return those of them that are no longer its own
   */
  Set<StreamRef> findTakenOver(Collection<StreamRef> streams);
}

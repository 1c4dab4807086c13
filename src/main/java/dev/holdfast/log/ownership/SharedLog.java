package dev.holdfast.log.ownership;

import dev.holdfast.log.StreamRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The additional operations of a log that several replicas share. */
public interface SharedLog extends Adoption {

  /** For a log with one replica: there are no other replicas. */
  SharedLog NONE =
      new SharedLog() {
        @Override
        public Inbox inbox() {
          return Inbox.NONE;
        }

        @Override
        public void evictReplacedWatchers() {
          // There is no other replica.
        }

        @Override
        public List<AdoptedStream> adopt(String session, String lost) {
          return List.of();
        }

        @Override
        public Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
          return Map.of();
        }

        @Override
        public List<AdoptedStream> reclaim(String session, Set<String> names) {
          return List.of();
        }

        @Override
        public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
          return Set.of();
        }
      };

  /** The inboxes of the sessions in this log. */
  Inbox inbox();

  /**
   * Evicts local watchers of streams that another replica watches now. This replica missed their
   * evictions while it was not subscribed. Such watchers would get no wake-ups.
   *
   * @throws dev.holdfast.log.LogException.StoreUnavailable when the store cannot be reached in time
   */
  void evictReplacedWatchers();
}

package dev.holdfast.log.ownership;

import dev.holdfast.log.StreamRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a log offers that several replicas share, besides {@link dev.holdfast.log.EventLog}. */
public interface SharedLog extends Adoption {

  /** For a log that one replica has for itself: nothing comes from others, nothing goes to them. */
  SharedLog NONE =
      new SharedLog() {
        @Override
        public Inbox inbox() {
          return Inbox.NONE;
        }

        @Override
        public void evictReplacedWatchers() {
          // No other replica can take over a watch.
        }

        @Override
        public List<AdoptedStream> adopt(String session, String former) {
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
   * Evicts the watchers of streams that another replica watches by now. Their evictions were lost
   * while this replica was not subscribed, and wake-ups go to the recorded watcher only.
   *
   * @throws dev.holdfast.log.StoreUnavailableException when the store cannot be reached in time
   */
  void evictReplacedWatchers();
}

package dev.holdfast.relay.failover;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.Admission;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Finds orphaned streams, which this replica owns but does not write, and reclaims them. They exist
 * after a store was away or lost its newest writes: a stream was opened although the call seemed to
 * fail, or the end of a stream is lost. No other replica would ever end them.
 *
 * @param sessions the sessions in which this replica may own streams
 */
public record OrphanedStreams(
    SharedLog shared,
    TakeOver takeOver,
    Admission admission,
    Supplier<? extends Collection<LogKey>> sessions) {

  /** Far longer than it takes from the record of an owner to the start of the writer. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  /**
   * Reclaims orphaned streams. It looks twice, because a stream that was just opened has no writer
   * either; the second look needs some seconds.
   *
   * @throws dev.holdfast.log.LogException.StoreUnavailable when the log is away
   * @throws dev.holdfast.session.SessionStoreException when the session store is away
   */
  public void reclaim(Predicate<LogKey> which) {
    List<LogKey> looked = sessions.get().stream().filter(which).toList();
    Map<StreamRef, String> before = shared.findOrphaned(looked);
    if (before.isEmpty() || !Reconciler.pause(GRACE)) {
      return;
    }
    Set<LogKey> suspects = before.keySet().stream().map(StreamRef::key).collect(Collectors.toSet());
    Map<LogKey, Set<String>> orphaned = new HashMap<>();
    shared
        .findOrphaned(suspects)
        .forEach((stream, owner) -> {
          if (owner.equals(before.get(stream))) {
            orphaned.computeIfAbsent(stream.key(), _ -> new HashSet<>()).add(stream.name());
          }
        });
    if (!admission.isDraining()) {
      orphaned.forEach(takeOver::reclaim);
    }
  }
}

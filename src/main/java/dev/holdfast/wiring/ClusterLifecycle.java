package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.HeartbeatTiming;
import dev.holdfast.cluster.Membership;
import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.log.LogException;
import dev.holdfast.log.ownership.SharedLog;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.Handover;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.Reconciler;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.Tails;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Runs the heartbeats, take-over, reconciliation and drain of this replica. */
@Singleton
final class ClusterLifecycle {

  private static final Logger LOG = Logger.getLogger(ClusterLifecycle.class);

  /** Null for a replica whose store is not shared. */
  private final @Nullable Membership membership;

  private final Reconciler reconciler;
  private final Drain drain;
  private final ProcessMode mode;

  ClusterLifecycle(
      SharedLog log,
      TakeOver takeOver,
      Sessions sessions,
      Pumps pumps,
      Tails tails,
      Admission admission,
      StreamConfig streams,
      GatewayConfig gateway,
      ClusterConfig cluster,
      ProcessMode mode,
      Instance<RedisConnections> redis) {
    this.mode = mode;
    List<Reconciler.Check> checks = new ArrayList<>();
    checks.add(new Reconciler.Check("streams of others", takeOver::stopLostPumps));
    checks.add(new Reconciler.Check("missed evictions", log::evictReplacedWatchers));
    checks.add(new Reconciler.Check("ended sessions", sessions::stopPumpsOfEndedSessions));
    if (gateway.store() == GatewayConfig.Store.MEMORY) {
      reconciler = new Reconciler(checks);
      membership = null;
      drain = new Drain(streams, pumps, tails, admission, null);
      return;
    }
    RedisConnections connections = redis.get();
    OwnedSessions owned = connections.ownedSessions();
    OrphanedStreams orphans = new OrphanedStreams(log, takeOver, admission, owned::all);
    checks.add(new Reconciler.Check("orphaned streams", orphans::reclaim));
    checks.add(new Reconciler.Check("owned sessions", () -> sweep(owned, pumps)));
    Reconciler shared = new Reconciler(checks);
    Runnable reconcileSoon =
        () -> {
          if (mode.serves()) {
            shared.reconcileSoon();
          }
        };
    connections.subscription().addListener(_ -> {}, reconcileSoon);
    HeartbeatTiming timing = HeartbeatTiming.of(cluster);
    Membership member =
        new Membership(
            connections.client(),
            connections.keys(),
            connections.replica(),
            timing,
            owned,
            (session, lost) -> takeOver.takeOver(session, lost.value()),
            reconcileSoon);
    reconciler = shared;
    membership = member;
    drain =
        new Drain(streams, pumps, tails, admission, new OtherReplicas(member, takeOver, timing));
  }

  private static void sweep(OwnedSessions owned, Pumps pumps) {
    try {
      owned.sweep(pumps::isRunning);
    } catch (RedisException unavailable) {
      throw new LogException.StoreUnavailable("could not record the owned sessions", unavailable);
    }
  }

  void start(@Observes StartupEvent event) {
    if (membership != null && mode.serves()) {
      membership.start();
    }
  }

  /** Runs on the thread that stops the program. The gateway serves HTTP until it returns. */
  void drain(@Observes ShutdownDelayInitiatedEvent event) {
    if (mode.serves()) {
      drain.run();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    if (membership != null && mode.serves()) {
      membership.close();
    }
  }

  /** Reconciles this replica with the store, as part of each sweep. */
  void sweep() {
    reconciler.reconcile();
  }

  private record OtherReplicas(Membership membership, TakeOver takeOver, HeartbeatTiming timing)
      implements Handover {

    /** After this time, other replicas take over the streams like those of a lost replica. */
    private static final Duration MAX_TAKE_OVER_TIMEOUT = Duration.ofSeconds(5);

    @Override
    public void prepare() {
      membership.stopAdopting();
    }

    @Override
    public boolean leave() {
      return membership.leave();
    }

    @Override
    public void stopLostPumps() {
      try {
        takeOver.stopLostPumps();
      } catch (LogException.StoreUnavailable unavailable) {
        LOG.debugf("streams taken over by others are not known: %s", unavailable.getMessage());
      }
    }

    /** Two heartbeats, in case the first one is lost, and a second for the work. */
    @Override
    public Duration takeOverTimeout() {
      Duration needed = timing.heartbeat().multipliedBy(2).plusSeconds(1);
      return needed.compareTo(MAX_TAKE_OVER_TIMEOUT) < 0 ? needed : MAX_TAKE_OVER_TIMEOUT;
    }
  }
}

package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.HeartbeatTiming;
import dev.holdfast.cluster.Membership;
import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.http.socket.ServerSockets;
import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.Reconciler;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Runs the background work of a gateway: heartbeats, take-over, sweeps, reconciliation and drain.
 * Other commands do none of it.
 */
@Singleton
final class Lifecycle {

  private static final Logger LOG = Logger.getLogger(Lifecycle.class);

  /** The longest time between two searches for abandoned sessions. */
  private static final Duration SEARCH_INTERVAL = Duration.ofSeconds(30);

  private final boolean serves;
  private final Relay relay;
  private final Reconciler reconciler;
  private final Drain drain;
  private final ServerSockets sockets;
  private final boolean drains;
  private final List<Thread> housekeeping;

  /** Null for a replica whose store is not shared. */
  private final @Nullable Membership membership;

  Lifecycle(
      RelayProducer relays,
      StoreProducer stores,
      StreamConfig streams,
      GatewayConfig gateway,
      SessionConfig session,
      ClusterConfig cluster,
      ServerSockets sockets,
      ProcessMode mode) {
    serves = mode.serves();
    drains = serves && !streams.drainTimeout().isZero();
    this.sockets = sockets;
    relay = relays.relay;
    Duration abandoned = session.abandonedTimeout();
    housekeeping =
        List.of(
            every(gateway.cleanupInterval(), this::sweep),
            every(
                Collections.min(
                    List.of(
                        abandoned.dividedBy(10),
                        session.idleTimeout().dividedBy(3),
                        SEARCH_INTERVAL)),
                () -> relays.sessions.endAbandoned(abandoned)));
    TakeOver takeOver = relays.takeOver;
    Pumps pumps = relays.pumps;
    List<Reconciler.Check> checks = new ArrayList<>();
    checks.add(new Reconciler.Check("streams of others", takeOver::stopLostPumps));
    checks.add(new Reconciler.Check("missed evictions", stores.sharedLog::evictReplacedWatchers));
    checks.add(new Reconciler.Check("ended sessions", relays.sessions::stopPumpsOfEndedSessions));
    RedisConnections redis = stores.redis;
    if (redis == null) {
      reconciler = new Reconciler(checks);
      membership = null;
      drain = new Drain(streams, pumps, relays.tails, relays.admission, null);
      return;
    }
    OwnedSessions owned = redis.ownedSessions();
    OrphanedStreams orphans =
        new OrphanedStreams(stores.sharedLog, takeOver, relays.admission, owned::all);
    checks.add(new Reconciler.Check("orphaned streams", orphans::reclaim));
    checks.add(new Reconciler.Check("owned sessions", () -> sweep(owned, pumps)));
    Reconciler shared = new Reconciler(checks);
    Runnable reconcileSoon = serves ? shared::reconcileSoon : () -> {};
    redis.subscription().addListener(_ -> {}, reconcileSoon);
    HeartbeatTiming timing = HeartbeatTiming.of(cluster);
    Membership member =
        new Membership(
            redis.client(),
            redis.keys(),
            redis.replica(),
            timing,
            owned,
            (id, lost) -> takeOver.takeOver(id, lost.value()),
            reconcileSoon);
    reconciler = shared;
    membership = member;
    drain =
        new Drain(
            streams,
            pumps,
            relays.tails,
            relays.admission,
            new OtherReplicas(member, takeOver, timing));
  }

  private static void sweep(OwnedSessions owned, Pumps pumps) {
    try {
      owned.sweep(pumps::isRunning);
    } catch (RedisException unavailable) {
      throw new LogException.StoreUnavailable("could not record the owned sessions", unavailable);
    }
  }

  void start(@Observes StartupEvent event) {
    if (serves) {
      housekeeping.forEach(Thread::start);
      if (membership != null) {
        membership.start();
      }
    }
  }

  /** Runs on the thread that stops the program. The gateway serves HTTP until it returns. */
  void drain(@Observes ShutdownDelayInitiatedEvent event) {
    if (drains) {
      sockets.drain();
    }
    if (serves) {
      drain.run();
    }
    if (drains) {
      closeSockets();
    }
  }

  private void closeSockets() {
    try {
      sockets.close();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    housekeeping.forEach(Thread::interrupt);
    if (membership != null && serves) {
      membership.close();
    }
  }

  private void sweep() {
    relay.sweep();
    reconciler.reconcile();
  }

  private static Thread every(Duration interval, Runnable work) {
    return Thread.ofVirtual()
        .name("housekeeping")
        .unstarted(() -> {
          try {
            while (true) {
              Thread.sleep(interval);
              try {
                work.run();
              } catch (Throwable failure) {
                LOG.warn("a sweep failed, the next one catches up", failure);
              }
            }
          } catch (InterruptedException stopped) {
            LOG.debug("stopped");
          }
        });
  }

  private record OtherReplicas(Membership membership, TakeOver takeOver, HeartbeatTiming timing)
      implements Drain.Handover {

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
      return Collections.min(List.of(needed, MAX_TAKE_OVER_TIMEOUT));
    }
  }
}

package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.Membership;
import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.log.LogException;
import dev.holdfast.log.SharedLog;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.Reconciler;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.Tails;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;

/** Produces what lets replicas take over streams from each other, and drain. */
final class FailoverProducer {

  private static final Logger LOG = Logger.getLogger(FailoverProducer.class);

  private FailoverProducer() {}

  @Produces
  @Singleton
  static Reconciler reconciler(
      TakeOver takeOver,
      SharedLog log,
      Sessions sessions,
      Admission admission,
      Pumps pumps,
      Optional<RedisConnections> redis) {
    List<Reconciler.Check> checks = new ArrayList<>();
    checks.add(new Reconciler.Check("streams of others", due -> pumps.stopLost(log, due)));
    checks.add(new Reconciler.Check("missed messages", log::catchUp));
    checks.add(new Reconciler.Check("ended sessions", sessions::stopPumpsOfEndedSessions));
    redis
        .map(RedisConnections::ownedSessions)
        .ifPresent(owned -> {
          OrphanedStreams orphans = new OrphanedStreams(log, takeOver, admission, owned::all);
          checks.add(new Reconciler.Check("orphaned streams", orphans::reclaim));
          checks.add(new Reconciler.Check("owned sessions", _ -> sweep(owned, pumps)));
        });
    return new Reconciler(checks, log::takeDoubts);
  }

  private static void sweep(OwnedSessions owned, Pumps pumps) {
    try {
      owned.sweep(pumps::isRunning);
    } catch (RedisException unavailable) {
      throw new LogException.StoreUnavailable("could not record the owned sessions", unavailable);
    }
  }

  /** Creates the membership of this replica; empty if its store is not shared. */
  @Produces
  @Singleton
  static Optional<Membership> membership(
      TakeOver takeOver,
      Reconciler reconciler,
      Optional<RedisConnections> redis,
      ClusterConfig cluster,
      ProcessMode mode) {
    Runnable reconcileSoon = mode.serves() ? reconciler::reconcileSoon : () -> {};
    redis.ifPresent(opened -> opened.subscription().addListener(_ -> {}, reconcileSoon));
    return redis.map(opened ->
        new Membership(
            opened.client(),
            opened.keys(),
            opened.replica(),
            cluster,
            opened.ownedSessions(),
            (id, lost) -> takeOver.takeOver(id, lost.value()),
            reconcileSoon));
  }

  @Produces
  @Singleton
  static Drain drain(
      StreamConfig streams,
      Pumps pumps,
      Tails tails,
      Admission admission,
      SharedLog log,
      Optional<Membership> membership,
      ClusterConfig cluster) {
    return new Drain(
        streams,
        pumps,
        tails,
        admission,
        membership.map(member -> new OtherReplicas(member, pumps, log, cluster)).orElse(null));
  }

  private record OtherReplicas(
      Membership membership, Pumps pumps, SharedLog log, ClusterConfig timing)
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
        pumps.stopLost(log, _ -> true);
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

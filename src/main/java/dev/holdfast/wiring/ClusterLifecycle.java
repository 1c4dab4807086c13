package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.HeartbeatTiming;
import dev.holdfast.cluster.Membership;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.Handover;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.session.Sessions;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** This replica among others, where the log is one that replicas share. */
@Singleton
final class ClusterLifecycle {

  private static final Logger LOG = Logger.getLogger(ClusterLifecycle.class);

  private final @Nullable TakeOver takeOver;
  private final @Nullable RedisConnections redis;
  private final @Nullable Membership membership;
  private final @Nullable OrphanedStreams strays;
  private final Drain drain;
  private final ProcessMode purpose;

  ClusterLifecycle(
      EventLog log,
      Sessions sessions,
      Parts parts,
      MessageRouter outbound,
      ClusterConfig config,
      ProcessMode purpose,
      Instance<RedisConnections> connections) {
    this.purpose = purpose;
    HeartbeatTiming pulse = HeartbeatTiming.of(config);
    if (log instanceof Adoption adoption) {
      TakeOver heir = new TakeOver(sessions, parts, outbound, adoption);
      RedisConnections shared = connections.get();
      takeOver = heir;
      redis = shared;
      membership =
          new Membership(
              shared.link(),
              shared.keys(),
              shared.replica(),
              pulse,
              shared.sessions(),
              (session, lost) -> heir.takeOver(session, lost.value()),
              () -> {
                stopFenced(heir);
                look();
              });
      strays = new OrphanedStreams(adoption, heir, parts, () -> shared.sessions().all());
      shared.channel().addListener(_ -> {}, this::look);
      drain = new Drain(parts, new ToOthers(membership, heir, pulse));
    } else {
      takeOver = null;
      redis = null;
      membership = null;
      strays = null;
      drain = new Drain(parts, null);
    }
  }

  void start(@Observes StartupEvent event) {
    if (membership != null && purpose.serves()) {
      membership.start();
    }
  }

  /** Fired on the thread that stops the program, while HTTP is still served: it waits for us. */
  void drain(@Observes ShutdownDelayInitiatedEvent event) {
    if (purpose.serves()) {
      drain.run();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    if (membership != null && purpose.serves()) {
      membership.close();
    }
  }

  /** The store was away, or others may have taken this replica for lost. */
  private void look() {
    if (strays != null && purpose.serves()) {
      strays.look();
    }
  }

  /** Takes up what is astray, and forgets sessions of which nothing is written here any more. */
  void sweep() {
    if (redis != null && takeOver != null && strays != null) {
      strays.takeUp();
      redis.sessions().sweep(takeOver::isPumping);
    }
  }

  private static void stopFenced(TakeOver heir) {
    try {
      heir.stopFenced();
    } catch (StoreUnavailableException away) {
      LOG.debugf("not known which streams are lost: %s", away.getMessage());
    }
  }

  /** From this replica to the others. */
  private record ToOthers(Membership membership, TakeOver takeOver, HeartbeatTiming pulse)
      implements Handover {

    /** What is left then goes the way of a lost replica's streams, somewhat later. */
    private static final Duration MOST = Duration.ofSeconds(5);

    @Override
    public void prepare() {
      membership.retire();
    }

    @Override
    public boolean leave() {
      return membership.leave();
    }

    @Override
    public void stopTaken() {
      stopFenced(takeOver);
    }

    /** A beat until they notice, another if that one was lost, and the work. */
    @Override
    public Duration patience() {
      Duration needed = pulse.heartbeat().multipliedBy(2).plusSeconds(1);
      return needed.compareTo(MOST) < 0 ? needed : MOST;
    }
  }
}

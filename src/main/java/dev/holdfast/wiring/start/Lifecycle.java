package dev.holdfast.wiring.start;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.Membership;
import dev.holdfast.http.socket.OwnCertificates;
import dev.holdfast.http.socket.ServerSockets;
import dev.holdfast.relay.Housekeeping;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.Reconciler;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.wiring.config.CheckedConfig;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Runs the background work of a gateway: heartbeats, sweeps, reconciliation and drain. Other
 * commands do none of it.
 */
@Singleton
final class Lifecycle {

  private static final Logger LOG = Logger.getLogger(Lifecycle.class);

  /** The longest time between two searches for abandoned sessions. */
  private static final Duration SEARCH_INTERVAL = Duration.ofSeconds(30);

  private final boolean serves;
  private final Drain drain;
  private final ServerSockets sockets;
  private final boolean drains;
  private final List<Thread> housekeeping;
  private final Optional<Membership> membership;

  Lifecycle(
      CheckedConfig checked,
      Housekeeping duties,
      Sessions sessions,
      Reconciler reconciler,
      Drain drain,
      Optional<Membership> membership,
      ServerSockets sockets,
      ProcessMode mode) {
    this.drain = drain;
    this.sockets = sockets;
    serves = mode.serves();
    this.membership = membership.filter(_ -> serves);
    drains = serves && !checked.mapping(StreamConfig.class).drainTimeout().isZero();
    SessionConfig session = checked.mapping(SessionConfig.class);
    Duration abandoned = session.abandonedTimeout();
    Duration search =
        Collections.min(
            List.of(abandoned.dividedBy(10), session.idleTimeout().dividedBy(3), SEARCH_INTERVAL));
    // The store hears of a client that only waits when two thirds of the idle timeout are over.
    Duration keep =
        Collections.min(List.of(session.idleTimeout().dividedBy(6), Sessions.KEEP_INTERVAL));
    housekeeping =
        List.of(
            every(
                checked.gateway().cleanupInterval(),
                () -> {
                  duties.sweep();
                  reconciler.reconcile();
                }),
            every(keep, duties::keep),
            every(search, () -> sessions.endAbandoned(abandoned)));
  }

  void start(@Observes StartupEvent event, OwnCertificates certificates) {
    if (serves) {
      certificates.start();
      housekeeping.forEach(Thread::start);
    }
    membership.ifPresent(Membership::start);
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
    membership.ifPresent(Membership::close);
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
}

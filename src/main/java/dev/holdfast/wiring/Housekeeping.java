package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.relay.Relay;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.jboss.logging.Logger;

/** Sweeps at regular intervals while the program runs. */
@Singleton
final class Housekeeping {

  private static final Logger LOG = Logger.getLogger(Housekeeping.class);

  private final Relay relay;
  private final ClusterLifecycle cluster;
  private final Duration interval;
  private final Thread thread;
  private final ProcessMode mode;

  Housekeeping(Relay relay, ClusterLifecycle cluster, GatewayConfig config, ProcessMode mode) {
    this.mode = mode;
    this.relay = relay;
    this.cluster = cluster;
    this.interval = config.cleanupInterval();
    this.thread = Thread.ofVirtual().name("housekeeping").unstarted(this::run);
  }

  void start(@Observes StartupEvent event) {
    if (mode.serves()) {
      thread.start();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    thread.interrupt();
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(interval);
        sweep();
      }
    } catch (InterruptedException stopped) {
      LOG.debug("stopped");
    }
  }

  private void sweep() {
    try {
      relay.sweep();
      cluster.sweep();
    } catch (RuntimeException failure) {
      LOG.warn("a sweep failed; the next one catches up", failure);
    }
  }
}

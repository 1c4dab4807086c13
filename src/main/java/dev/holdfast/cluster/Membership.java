package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps this replica among the others for as long as it runs: beats, and takes over what lost
 * replicas have left.
 */
public final class Membership implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Membership.class.getName());

  private final ReplicaRegistry replicas;
  private final OwnedSessions sessions;
  private final LostReplica estate;
  private final Runnable doubted;
  private final HeartbeatTiming pulse;
  private final AtomicBoolean takingOver = new AtomicBoolean();
  private final AtomicBoolean left = new AtomicBoolean();
  private volatile boolean willing = true;
  private final Thread thread = Thread.ofVirtual().name("heartbeat").unstarted(this::run);

  /**
   * Prepares; {@link #start()} begins.
   *
   * @param heir takes over what lost replicas leave
   * @param doubted is told, on each beat as long as it holds, that others may have taken this
   *     replica for lost and its streams for theirs
   */
  public Membership(
      RedisClient link,
      RedisKeys keys,
      ReplicaId self,
      HeartbeatTiming pulse,
      OwnedSessions sessions,
      SessionAdopter heir,
      Runnable doubted) {
    this.replicas = new ReplicaRegistry(link, keys, self, pulse);
    this.sessions = sessions;
    this.estate = new LostReplica(link, keys, replicas, heir);
    this.doubted = doubted;
    this.pulse = pulse;
  }

  /** Begins to beat, on a thread of its own. To be called once. */
  public void start() {
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        long next = System.nanoTime() + pulse.heartbeat().toNanos();
        beat();
        long left = next - System.nanoTime();
        Thread.sleep(Duration.ofNanos(Math.max(left, 0)));
      }
    } catch (InterruptedException stopped) {
      LOG.log(Level.DEBUG, "stopped");
    }
  }

  private void beat() {
    try {
      ReplicaRegistry.Beat beat = replicas.beat(sessions.enlistments());
      if (!beat.steady()) {
        sessions.addAllAgain();
        doubted.run();
      }
      if (willing && !beat.lost().isEmpty() && takingOver.compareAndSet(false, true)) {
        // Aside, so that this replica goes on beating meanwhile.
        Thread.ofVirtual().name("take-over").start(() -> takeOver(beat.lost()));
      }
    } catch (RedisException away) {
      LOG.log(Level.DEBUG, "No beat: {0}", away.getMessage());
    } catch (RuntimeException unforeseen) {
      LOG.log(Level.ERROR, "A beat failed in an unforeseen way", unforeseen);
    }
  }

  private void takeOver(List<ReplicaId> lost) {
    try {
      for (ReplicaId each : lost) {
        estate.takeOver(each, () -> willing);
      }
    } catch (RedisException away) {
      LOG.log(Level.WARNING, "A take-over is interrupted: {0}", away.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      takingOver.set(false);
    }
  }

  /** Takes over nothing more. This replica goes on beating. */
  public void retire() {
    willing = false;
  }

  /**
   * Stops beating and says so, so that others take over at once what is still open here. Does
   * nothing the second time.
   *
   * @return whether there is another replica; not when Redis is away, nor the second time
   */
  public boolean leave() {
    if (left.getAndSet(true)) {
      return false;
    }
    retire();
    thread.interrupt();
    try {
      thread.join();
      return replicas.leave();
    } catch (RedisException away) {
      LOG.log(Level.DEBUG, "Not said that this replica stops: {0}", away.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** Leaves. */
  @Override
  public void close() {
    boolean _ = leave();
  }
}

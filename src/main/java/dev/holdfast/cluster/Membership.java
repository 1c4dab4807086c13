package dev.holdfast.cluster;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.LogKey;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * This replica's membership in the cluster, from {@link #start()} to {@link #leave()}: it sends
 * heartbeats, and adopts the sessions of lost replicas.
 */
public final class Membership implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(Membership.class);
  private static final Duration ONE_OUTAGE_PER = Duration.ofSeconds(10);

  private final ReplicaRegistry replicas;
  private final OwnedSessions sessions;
  private final LostReplicaSessions lostSessions;
  private final Runnable onSuspected;
  private final ClusterConfig timing;
  private final AtomicBoolean takingOver = new AtomicBoolean();
  private final AtomicBoolean left = new AtomicBoolean();
  private volatile boolean adopting = true;
  private volatile int alive = 1;

  /**
   * Time of the first failed heartbeat; null after a successful one. Owned by the thread of the
   * heartbeats.
   */
  private @Nullable Instant awaySince;

  /** True if the log says that Redis is away. Owned by the thread of the heartbeats. */
  private boolean awayLogged;

  private final LogRate outages = new LogRate(ONE_OUTAGE_PER);

  /** Written by {@link #start()} only. */
  private volatile @Nullable Thread thread;

  /**
   * Does nothing before {@link #start()}.
   *
   * @param adopter adopts the streams that a lost replica owns in one session. Called for many
   *     sessions at once, each on its own virtual thread. If it throws, the session stays on record
   *     and is offered again later, to this replica or another
   * @param onSuspected runs after each heartbeat while other replicas may have considered this one
   *     lost, and may have adopted its streams
   */
  public Membership(
      RedisClient redis,
      RedisKeys keys,
      ReplicaId self,
      ClusterConfig timing,
      OwnedSessions sessions,
      BiConsumer<LogKey, ReplicaId> adopter,
      Runnable onSuspected) {
    this.replicas = new ReplicaRegistry(redis, keys, self, timing);
    this.sessions = sessions;
    this.lostSessions = new LostReplicaSessions(redis, keys, replicas, adopter);
    this.onSuspected = onSuspected;
    this.timing = timing;
  }

  /** Begins to send heartbeats, on a thread of its own. May be called once. */
  public void start() {
    thread = Thread.ofVirtual().name("heartbeat").start(this::run);
  }

  private void run() {
    try {
      while (true) {
        long next = System.nanoTime() + timing.heartbeat().toNanos();
        heartbeat();
        Thread.sleep(Duration.ofNanos(Math.max(next - System.nanoTime(), 0)));
      }
    } catch (InterruptedException stopped) {
      LOG.debug("Heartbeats stopped");
    }
  }

  private void heartbeat() {
    try {
      ReplicaRegistry.Heartbeat heartbeat = replicas.heartbeat(sessions.registrations());
      redisAnswered();
      alive = heartbeat.alive();
      if (!heartbeat.steady()) {
        sessions.addAllAgain();
        onSuspected.run();
      }
      if (adopting && heartbeat.lost() && takingOver.compareAndSet(false, true)) {
        // Use another thread, so heartbeats continue.
        Thread.ofVirtual().name("take-over").start(this::takeOver);
      }
    } catch (RedisException failure) {
      redisFailed(failure);
    } catch (RuntimeException unexpected) {
      LOG.error("heartbeat failed unexpectedly", unexpected);
    }
  }

  private void redisFailed(RedisException failure) {
    awaySince = Objects.requireNonNullElseGet(awaySince, Instant::now);
    if (!awayLogged && outages.next().isPresent()) {
      awayLogged = true;
      LOG.warnf("Redis is away reason=%s", failure.getMessage());
    }
  }

  private void redisAnswered() {
    if (awaySince != null && awayLogged) {
      LOG.infof(
          "Redis is back away-seconds=%d", Duration.between(awaySince, Instant.now()).toSeconds());
    }
    awaySince = null;
    awayLogged = false;
  }

  private void takeOver() {
    try {
      Optional<ReplicaId> lost = replicas.nextLost();
      while (lost.isPresent()) {
        lostSessions.adoptAll(lost.get(), () -> adopting);
        lost = adopting ? replicas.nextLost() : Optional.empty();
      }
    } catch (RedisException failure) {
      LOG.warnf("adopting sessions of a lost replica paused reason=%s", failure.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      takingOver.set(false);
    }
  }

  /**
   * Number of replicas that were not lost at the last heartbeat that Redis answered, this one among
   * them; 1 before the first.
   */
  public int alive() {
    return alive;
  }

  /** Stops adopting sessions of lost replicas. Heartbeats continue. */
  public void stopAdopting() {
    adopting = false;
  }

  /**
   * Stops the heartbeats and tells the other replicas, which adopt the open streams at once. Does
   * nothing the second time.
   *
   * @return whether another replica is alive; false if Redis does not answer, and the second time
   */
  public boolean leave() {
    if (left.getAndSet(true)) {
      return false;
    }
    stopAdopting();
    Thread running = thread;
    try {
      if (running != null) {
        running.interrupt();
        running.join();
      }
      return replicas.leave();
    } catch (RedisException failure) {
      LOG.debugf("Leaving the cluster failed: reason=%s", failure.getMessage());
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

  /**
   * Hands the sessions of a lost replica to an adopter. If that takes long, other survivors join:
   * each takes random sessions, and the adopter decides which replica gets each stream.
   */
  private record LostReplicaSessions(
      RedisClient redis,
      RedisKeys keys,
      ReplicaRegistry replicas,
      BiConsumer<LogKey, ReplicaId> adopter) {

    /**
     * Concurrent sessions: enough to use the connection well, but leave room for other commands.
     */
    private static final int BATCH_SIZE = 100;

    /**
     * Adopts all sessions of a replica, and then forgets it. Stops early when the replica comes
     * back.
     *
     * @param proceed called between batches; whether to continue
     * @throws dev.holdfast.redis.RedisException when Redis does not answer; a later heartbeat tries
     *     again
     */
    void adoptAll(ReplicaId lost, BooleanSupplier proceed) throws InterruptedException {
      String key = keys.replicaSessions(lost.value());
      List<String> batch = nextBatch(key);
      long total = 0;
      while (!batch.isEmpty() && proceed.getAsBoolean() && replicas.isSilent(lost, false)) {
        List<String> adopted = adopt(batch, lost);
        if (adopted.isEmpty()) {
          return; // The next heartbeat names the replica again.
        }
        Request removal = Request.cmd(Command.SREM).arg(key);
        adopted.forEach(removal::arg);
        redis.send(removal);
        total += adopted.size();
        batch = nextBatch(key);
      }
      if (batch.isEmpty()) {
        boolean _ = replicas.isSilent(lost, true);
        LOG.infof("sessions of a lost replica adopted replica=%s sessions=%d", lost, total);
      }
    }

    private List<String> nextBatch(String key) {
      Response members = redis.send(Request.cmd(Command.SRANDMEMBER, key, BATCH_SIZE));
      return Objects.requireNonNull(members).stream().map(Response::toString).toList();
    }

    /** Adopts sessions concurrently, to share the connection. Returns the adopted sessions. */
    private List<String> adopt(List<String> sessions, ReplicaId lost) throws InterruptedException {
      List<String> adopted = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<?>> running = new ArrayList<>();
        sessions.forEach(session ->
            running.add(threads.submit(() -> adopter.accept(new LogKey(session), lost))));
        for (int i = 0; i < running.size(); i++) {
          try {
            running.get(i).get();
            adopted.add(sessions.get(i));
          } catch (ExecutionException failed) {
            LOG.warnf(failed.getCause(), "adopting a session failed and will be repeated");
          }
        }
      }
      return adopted;
    }
  }
}

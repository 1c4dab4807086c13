package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;

/**
 * Hands the sessions of a lost replica to an adopter. Several survivors may share the work: each
 * takes random sessions, and the adopter decides which replica gets each stream.
 */
final class LostReplicaSessions {

  private static final Logger LOG = Logger.getLogger(LostReplicaSessions.class);

  /** Concurrent sessions: enough to use the connection well, but leave room for other commands. */
  private static final int BATCH_SIZE = 100;

  private final RedisClient redis;
  private final RedisKeys keys;
  private final ReplicaRegistry replicas;
  private final BiConsumer<String, ReplicaId> adopter;

  LostReplicaSessions(
      RedisClient redis,
      RedisKeys keys,
      ReplicaRegistry replicas,
      BiConsumer<String, ReplicaId> adopter) {
    this.redis = redis;
    this.keys = keys;
    this.replicas = replicas;
    this.adopter = adopter;
  }

  /**
   * Adopts all sessions of a replica, and then forgets it. Stops early when the replica comes back.
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
      remove(key, adopted);
      total += adopted.size();
      batch = nextBatch(key);
    }
    if (batch.isEmpty()) {
      boolean _ = replicas.isSilent(lost, true);
      LOG.infof("Sessions of a lost replica adopted: replica=%s sessions=%d", lost, total);
    }
  }

  private List<String> nextBatch(String key) {
    Response members = redis.send(Request.cmd(Command.SRANDMEMBER).arg(key).arg(BATCH_SIZE));
    return members == null ? List.of() : members.stream().map(Response::toString).toList();
  }

  /** Adopts sessions concurrently, to share the connection. Returns the adopted sessions. */
  private List<String> adopt(List<String> sessions, ReplicaId lost) throws InterruptedException {
    List<String> adopted = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      sessions.forEach(session -> running.add(threads.submit(() -> adopter.accept(session, lost))));
      for (int i = 0; i < running.size(); i++) {
        try {
          running.get(i).get();
          adopted.add(sessions.get(i));
        } catch (ExecutionException failed) {
          LOG.warnf(failed.getCause(), "Adopting a session failed and will be repeated");
        }
      }
    }
    return adopted;
  }

  private void remove(String key, List<String> sessions) {
    Request request = Request.cmd(Command.SREM).arg(key);
    sessions.forEach(request::arg);
    redis.send(request);
  }
}

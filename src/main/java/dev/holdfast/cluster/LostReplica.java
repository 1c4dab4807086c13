package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/**
 * What a lost replica has left: its sessions. Several survivors may share the work, each at random;
 * who gets a stream is decided elsewhere, stream by stream.
 */
final class LostReplica {

  private static final Logger LOG = System.getLogger(LostReplica.class.getName());

  /** As many at a time as fill the connection without keeping others from it. */
  private static final int BATCH = 100;

  private final RedisClient link;
  private final RedisKeys keys;
  private final ReplicaRegistry replicas;
  private final SessionAdopter heir;

  LostReplica(RedisClient link, RedisKeys keys, ReplicaRegistry replicas, SessionAdopter heir) {
    this.link = link;
    this.keys = keys;
    this.replicas = replicas;
    this.heir = heir;
  }

  /**
   * Takes over all that a replica has left, or until it turns out to be alive.
   *
   * @param willing asked from time to time whether to go on
   * @throws dev.holdfast.redis.RedisException when Redis does not answer; to be tried again
   */
  void takeOver(ReplicaId lost, BooleanSupplier willing) throws InterruptedException {
    String key = keys.replicaSessions(lost.value());
    List<String> batch = some(key);
    long taken = 0;
    while (!batch.isEmpty() && willing.getAsBoolean() && replicas.isStillSilent(lost)) {
      List<String> done = inherit(batch, lost);
      if (done.isEmpty()) {
        return; // The next beat names it again.
      }
      remove(key, done);
      taken += done.size();
      batch = some(key);
    }
    if (batch.isEmpty()) {
      replicas.bury(lost);
      LOG.log(
          Level.INFO,
          "Replica lost, its streams are taken over: replica={0} sessions={1}",
          lost,
          taken);
    }
  }

  private List<String> some(String key) {
    Response members = link.send(Request.cmd(Command.SRANDMEMBER).arg(key).arg(BATCH));
    List<String> sessions = new ArrayList<>();
    for (int i = 0; members != null && i < members.size(); i++) {
      sessions.add(members.get(i).toString());
    }
    return sessions;
  }

  /** Offers all at once, so that their commands share the connection; returns those taken. */
  private List<String> inherit(List<String> sessions, ReplicaId lost) throws InterruptedException {
    List<String> done = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      sessions.forEach(session -> running.add(threads.submit(() -> heir.adopt(session, lost))));
      for (int i = 0; i < running.size(); i++) {
        try {
          running.get(i).get();
          done.add(sessions.get(i));
        } catch (ExecutionException failed) {
          LOG.log(Level.WARNING, "A session is not taken over yet", failed.getCause());
        }
      }
    }
    return done;
  }

  private void remove(String key, List<String> sessions) {
    Request request = Request.cmd(Command.SREM).arg(key);
    sessions.forEach(request::arg);
    link.send(request);
  }
}

package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The set of all replicas, each with the time of its last heartbeat by the clock of Redis. A
 * heartbeat is one script on one key, whatever the number of sessions.
 *
 * <p>A replica judges others only when it is steady: it has sent heartbeats without a gap for
 * {@link HeartbeatTiming#deadAfter}. After an outage of Redis, or when all replicas were frozen,
 * all heartbeats are old and prove nothing. Every replica then has that time to send a heartbeat.
 */
final class ReplicaRegistry {

  /** Maximum number of lost replicas in one reply. The next heartbeat returns the rest. */
  private static final int MAX_LOST = 16;

  private final RedisScript heartbeat;
  private final RedisScript isSilent;
  private final RedisScript leave;
  private final List<String> key;
  private final ReplicaId self;
  private final HeartbeatTiming timing;

  /** Used by the heartbeat thread only. */
  private long registrations;

  /** Start of the heartbeats without a gap, by the clock of Redis; 0 before the first. */
  private long steadySince;

  ReplicaRegistry(RedisClient redis, RedisKeys keys, ReplicaId self, HeartbeatTiming timing) {
    this.heartbeat = new RedisScript(redis, ReplicaRegistry.class, "heartbeat.lua");
    this.isSilent = new RedisScript(redis, ReplicaRegistry.class, "is-silent.lua");
    this.leave = new RedisScript(redis, ReplicaRegistry.class, "leave.lua");
    this.key = List.of(keys.replicas());
    this.self = self;
    this.timing = timing;
  }

  /**
   * The result of a heartbeat.
   *
   * @param steady false while other replicas may have considered this one lost
   * @param lost the lost replicas; while not steady, only those that left by themselves
   */
  record Heartbeat(boolean steady, List<ReplicaId> lost) {}

  /**
   * Records that this replica is alive. For one thread only.
   *
   * @param registered {@link OwnedSessions#registrations()}: a change means that the set had lost
   *     this replica
   * @throws RedisException when Redis does not answer; that proves nothing about other replicas
   */
  Heartbeat heartbeat(long registered) {
    Response found =
        heartbeat.run(
            key, self, timing.deadAfter().toMillis(), MAX_LOST, OwnedSessions.RETENTION.toMillis());
    if (found == null) {
      return new Heartbeat(false, List.of());
    }
    long now = Long.parseLong(found.get(0).toString());
    Response before = found.get(1);
    if (before == null
        || steadySince == 0
        || registrations != registered
        || now - millis(before) > timing.heartbeat().toMillis() * 2) {
      steadySince = now;
      registrations = registered;
    }
    boolean steady = now - steadySince >= timing.deadAfter().toMillis();
    return new Heartbeat(steady, ids(found.get(steady ? 2 : 3)));
  }

  /** Redis formats large scores with an exponent. */
  private static long millis(Response score) {
    return (long) Double.parseDouble(score.toString());
  }

  private static List<ReplicaId> ids(@Nullable Response members) {
    List<ReplicaId> ids = new ArrayList<>();
    for (int i = 0; members != null && i < members.size(); i++) {
      ids.add(new ReplicaId(members.get(i).toString()));
    }
    return ids;
  }

  /**
   * Whether a lost replica has not come back.
   *
   * @param forget whether to remove a silent replica, which has no sessions left
   */
  boolean isSilent(ReplicaId lost, boolean forget) {
    return isSilent
        .runForText(key, lost, timing.deadAfter().toMillis(), forget ? "forget" : "")
        .equals("1");
  }

  /**
   * Records that this replica stops, so that others adopt its sessions at once.
   *
   * @return whether another replica is alive
   */
  boolean leave() {
    Response others = leave.run(key, self, timing.deadAfter().toMillis());
    return others != null && Long.parseLong(others.toString()) > 0;
  }
}

package dev.holdfast.cluster;

import static dev.holdfast.redis.RedisClient.number;
import static java.util.Objects.requireNonNull;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The set of all replicas, each with the time of its last heartbeat by the clock of Redis. A
 * heartbeat is one script on one key, whatever the number of sessions.
 *
 * <p>A replica judges others only when it is steady: it has sent heartbeats without a gap for
 * {@link ClusterConfig#deadAfter}. After an outage of Redis, or when all replicas were frozen, all
 * heartbeats are old and prove nothing. Every replica then has that time to send a heartbeat.
 */
final class ReplicaRegistry {

  private final RedisScript heartbeat;
  private final RedisScript nextLost;
  private final RedisScript isSilent;
  private final RedisScript leave;
  private final List<String> key;
  private final ReplicaId self;
  private final ClusterConfig timing;

  /** Used by the heartbeat thread only. */
  private long registrations;

  /** Start of the heartbeats without a gap, by the clock of Redis; 0 before the first. */
  private long steadySince;

  /**
   * Result of the last answered heartbeat. Written by the heartbeat thread only, as is the next.
   */
  private volatile boolean steady;

  /** Time of that answer, by {@link System#nanoTime()}. */
  private volatile long answeredAt;

  ReplicaRegistry(RedisClient redis, RedisKeys keys, ReplicaId self, ClusterConfig timing) {
    this.heartbeat = new RedisScript(redis, ReplicaRegistry.class, "heartbeat.lua");
    this.nextLost = new RedisScript(redis, ReplicaRegistry.class, "next-lost.lua");
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
   * @param lost whether {@link #nextLost} has a replica
   * @param alive the number of replicas that are not silent, this one among them
   */
  record Heartbeat(boolean steady, boolean lost, int alive) {}

  /**
   * Records that this replica is alive. For one thread only.
   *
   * @param registered {@link OwnedSessions#registrations()}: a change means that the set had lost
   *     this replica
   * @throws RedisException when Redis does not answer; that proves nothing about other replicas
   */
  Heartbeat heartbeat(long registered) {
    long deadAfter = timing.deadAfter().toMillis();
    long retention = OwnedSessions.RETENTION.toMillis();
    Response found = requireNonNull(heartbeat.run(key, self, deadAfter, retention));
    long now = number(found.get(0));
    Response before = found.get(1);
    if (before == null
        || steadySince == 0
        || registrations != registered
        // Redis formats large scores with an exponent.
        || now - Double.parseDouble(before.toString()) > longestGap().toMillis()
        // A broken network may deliver an earlier heartbeat late, just before this one.
        || isLate()) {
      steadySince = now;
      registrations = registered;
    }
    answeredAt = System.nanoTime();
    steady = now - steadySince >= deadAfter;
    return new Heartbeat(
        steady, number(found.get(steady ? 2 : 3)) > 0, Math.toIntExact(number(found.get(4))));
  }

  private Duration longestGap() {
    return timing.heartbeat().multipliedBy(2);
  }

  private boolean isLate() {
    return System.nanoTime() - answeredAt > longestGap().toNanos();
  }

  /**
   * Returns a lost replica whose sessions this one adopts. No other replica gets it within {@link
   * ClusterConfig#deadAfter}. Then this one may be lost itself, and another one joins the work.
   *
   * @return only a replica that left by itself while this one is not steady, as {@link #heartbeat}
   *     says, or has no recent answer to a heartbeat; empty if there is none
   */
  Optional<ReplicaId> nextLost() {
    boolean judges = steady && !isLate();
    Response lost = nextLost.run(key, timing.deadAfter().toMillis(), judges ? "" : "left");
    // If Redis was frozen meanwhile, it has found all replicas silent.
    return judges && (!steady || isLate())
        ? Optional.empty()
        : Optional.ofNullable(lost).map(id -> new ReplicaId(id.toString()));
  }

  /**
   * Returns true if a lost replica has not come back.
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
    return !leave.runForText(key, self, timing.deadAfter().toMillis()).equals("0");
  }
}

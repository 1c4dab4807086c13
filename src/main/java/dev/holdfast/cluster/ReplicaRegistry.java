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
 * This replica among the others. One sorted set has them all, each with the time of its last beat
 * by the clock of Redis; a beat is one script on that one key, however many sessions there are.
 *
 * <p>A replica trusts what it sees of others only after it has itself beaten without a gap for as
 * long as makes a replica lost. When Redis was away, or everyone was frozen, all beats are old and
 * say nothing; so everybody has that time to be heard again.
 */
final class ReplicaRegistry {

  private static final RedisScript BEAT = RedisScript.load(ReplicaRegistry.class, "beat.lua");
  private static final RedisScript LEAVE = RedisScript.load(ReplicaRegistry.class, "leave.lua");
  private static final RedisScript SILENT = RedisScript.load(ReplicaRegistry.class, "silent.lua");

  /** So that one beat stays short, whatever happened; the rest is named by the next. */
  private static final int MOST_LOST = 16;

  private final RedisClient link;
  private final String key;
  private final ReplicaId self;
  private final HeartbeatTiming pulse;

  // Of the beating thread.
  private long enlistments;

  /** Since when this replica beats without a gap, by the clock of Redis; 0 before the first. */
  private long steadySince;

  ReplicaRegistry(RedisClient link, RedisKeys keys, ReplicaId self, HeartbeatTiming pulse) {
    this.link = link;
    this.key = keys.replicas();
    this.self = self;
    this.pulse = pulse;
  }

  /**
   * What a beat found.
   *
   * @param steady whether this replica was not silent for so long that others may have taken it for
   *     lost, and has not been for a while
   * @param lost replicas that were silent for too long; while not steady, only those that said
   *     themselves that they stop
   */
  record Beat(boolean steady, List<ReplicaId> lost) {}

  /**
   * Says that this replica is alive. For one thread.
   *
   * @param enlisted how often it was found missing on the list, and put there, between beats
   * @throws RedisException when Redis does not answer; that says nothing about others
   */
  Beat beat(long enlisted) {
    Response found =
        BEAT.run(
            link,
            List.of(key),
            args ->
                args.arg(self.value())
                    .arg(pulse.deadAfter().toMillis())
                    .arg(MOST_LOST)
                    .arg(OwnedSessions.KEPT.toMillis()));
    if (found == null) {
      return new Beat(false, List.of());
    }
    long now = Long.parseLong(found.get(0).toString());
    Response before = found.get(1);
    if (before == null
        || steadySince == 0
        || enlistments != enlisted
        || now - millis(before) > pulse.heartbeat().toMillis() * 2) {
      steadySince = now;
      enlistments = enlisted;
    }
    boolean steady = now - steadySince >= pulse.deadAfter().toMillis();
    return new Beat(steady, ids(found.get(steady ? 2 : 3)));
  }

  /** Redis writes large scores with an exponent. */
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

  /** Whether a replica that was lost has not come back. */
  boolean isStillSilent(ReplicaId lost) {
    return silent(lost, "");
  }

  /** Forgets a replica of which nothing is left, unless it has come back. */
  void bury(ReplicaId lost) {
    silent(lost, "bury");
  }

  private boolean silent(ReplicaId lost, String then) {
    Response answer =
        SILENT.run(
            link,
            List.of(key),
            args -> args.arg(lost.value()).arg(pulse.deadAfter().toMillis()).arg(then));
    return answer != null && answer.toString().equals("1");
  }

  /**
   * Says that this replica stops: what it leaves is taken over without waiting for its silence.
   *
   * @return whether any other is alive
   */
  boolean leave() {
    Response others =
        LEAVE.run(
            link, List.of(key), args -> args.arg(self.value()).arg(pulse.deadAfter().toMillis()));
    return others != null && Long.parseLong(others.toString()) > 0;
  }
}

package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Lists the replicas for operators. Thread-safe.
 *
 * @param redis sends commands; the caller closes it
 * @param deadAfter silence after which a replica counts as lost
 */
public record ReplicaList(RedisClient redis, RedisKeys keys, Duration deadAfter) {

  /** Maximum number of listed replicas. */
  public static final int MOST = 100;

  /** More replicas than a fleet has. */
  private static final int MOST_ALIVE = 10_000;

  /**
   * A replica.
   *
   * @param silence time since its last heartbeat, by the clock of Redis
   * @param alive whether it does not count as lost
   */
  public record Replica(ReplicaId id, Duration silence, boolean alive) {}

  /**
   * Lists the replicas that did not leave, and of which no other one adopts the sessions. At most
   * {@value #MOST}, the latest heartbeat first.
   *
   * @throws RedisException when Redis does not answer
   */
  public List<Replica> list() {
    // Replicas that have left have the time 0, and those that others adopt a negative one.
    Object[] latest = {
      keys.replicas(), "+inf", "(0", "BYSCORE", "REV", "LIMIT", 0, MOST, "WITHSCORES"
    };
    Response found = Objects.requireNonNull(redis.send(Request.cmd(Command.ZRANGE, latest)));
    long now = redis.currentMillis();
    List<Replica> replicas = new ArrayList<>();
    boolean pairs = found.size() > 0 && found.get(0).size() == 2;
    for (int i = 0; i < found.size(); i += pairs ? 1 : 2) {
      Response id = pairs ? found.get(i).get(0) : found.get(i);
      Response score = pairs ? found.get(i).get(1) : found.get(i + 1);
      Duration silence = silence(score, now);
      boolean alive = silence.compareTo(deadAfter) < 0;
      replicas.add(new Replica(new ReplicaId(id.toString()), silence, alive));
    }
    return replicas;
  }

  /** Time since the last heartbeat of a replica; empty if it counts as lost. Throws as above. */
  public Optional<Duration> silence(String id) {
    Response last = redis.send(Request.cmd(Command.ZSCORE, keys.replicas(), id));
    return Optional.ofNullable(last)
        .map(score -> silence(score, redis.currentMillis()))
        .filter(silence -> silence.compareTo(deadAfter) < 0);
  }

  /** Returns true if a replica does not count as lost. Throws as above. */
  public boolean isAlive(String id) {
    return silence(id).isPresent();
  }

  /** The ids of all replicas that do not count as lost. Throws as {@link #list} does. */
  public Set<String> alive() {
    String since = "(" + (redis.currentMillis() - deadAfter.toMillis());
    Object[] all = {keys.replicas(), since, "+inf", "BYSCORE", "LIMIT", 0, MOST_ALIVE};
    Response found = Objects.requireNonNull(redis.send(Request.cmd(Command.ZRANGE, all)));
    return found.stream().map(Response::toString).collect(Collectors.toSet());
  }

  private static Duration silence(Response lastHeartbeat, long now) {
    return Duration.ofMillis(
        Math.max(0, now - (long) Double.parseDouble(lastHeartbeat.toString())));
  }
}

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

  /**
   * A replica.
   *
   * @param silence time since its last heartbeat, by the clock of Redis
   * @param alive whether it does not count as lost
   */
  public record Replica(ReplicaId id, Duration silence, boolean alive) {}

  /**
   * Lists the replicas that did not leave, at most {@value #MOST}, the latest heartbeat first.
   *
   * @throws RedisException when Redis does not answer
   */
  public List<Replica> list() {
    // Replicas that have left have the time 0.
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
      Duration silence =
          Duration.ofMillis(Math.max(0, now - (long) Double.parseDouble(score.toString())));
      boolean alive = silence.compareTo(deadAfter) < 0;
      replicas.add(new Replica(new ReplicaId(id.toString()), silence, alive));
    }
    return replicas;
  }

  /** Time since the last heartbeat of a replica; empty if it counts as lost. Throws as above. */
  public Optional<Duration> silence(String id) {
    return list().stream()
        .filter(each -> each.id().value().equals(id) && each.alive())
        .map(Replica::silence)
        .findFirst();
  }

  /** The ids of the replicas that do not count as lost. Throws as {@link #list} does. */
  public Set<String> alive() {
    return list().stream()
        .filter(Replica::alive)
        .map(each -> each.id().value())
        .collect(Collectors.toSet());
  }
}

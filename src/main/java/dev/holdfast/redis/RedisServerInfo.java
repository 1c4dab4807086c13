package dev.holdfast.redis;

import static dev.holdfast.redis.RedisClient.number;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads the time, statistics and configuration of a Redis server. On a cluster any server answers.
 * A result is empty if the server forbids the command, as managed services do with {@code CONFIG}.
 */
public final class RedisServerInfo {

  /** A third of the time limit of a trial. */
  private static final Duration TRIAL = Duration.ofSeconds(1);

  private final RedisClient redis;
  private final RedisKeys keys;

  /** Uses a client without closing it. */
  public RedisServerInfo(RedisClient redis, RedisKeys keys) {
    this.redis = redis;
    this.keys = keys;
  }

  /**
   * Checks that a primary accepts writes and scripts, and that this user may subscribe.
   *
   * @throws RedisException when none does, or it may not
   */
  public void check() {
    redis.check(keys.check());
    String channel = keys.replicaChannel("doctor");
    try (RedisSubscription trial =
        new RedisSubscription(redis::newSubscriptionClient, redis, channel, TRIAL)) {
      trial.tryOnce();
    }
  }

  /**
   * The policy by which a full Redis drops data that Holdfast needs; empty if it drops none, or
   * does not say so.
   *
   * @param memory section "memory" of {@code INFO}
   */
  public static Optional<String> evictionPolicy(Map<String, String> memory) {
    boolean limited = !memory.getOrDefault("maxmemory", "0").equals("0");
    return Optional.ofNullable(memory.get("maxmemory_policy"))
        .filter(policy -> limited && !policy.equals("noeviction"));
  }

  /**
   * The server's clock; empty when it refuses.
   *
   * @throws RedisException.UnknownOutcome when Redis does not answer in time
   */
  public Optional<Instant> time() {
    return ask(Request.cmd(Command.TIME))
        .map(time -> Instant.ofEpochSecond(number(time.get(0)), number(time.get(1)) * 1000));
  }

  /**
   * A section of {@code INFO}, by key; empty when the server refuses.
   *
   * @throws RedisException.UnknownOutcome when Redis does not answer in time
   */
  public Map<String, String> info(String section) {
    Stream<String> lines =
        ask(Request.cmd(Command.INFO, section)).stream().flatMap(text -> text.toString().lines());
    return lines
        .map(line -> line.split(":", 2))
        .filter(pair -> pair.length == 2 && !pair[0].isEmpty())
        .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1].strip(), (_, last) -> last));
  }

  /**
   * A configuration parameter; empty when the server refuses or has no such parameter.
   *
   * @throws RedisException.UnknownOutcome when Redis does not answer in time
   */
  public Optional<String> config(String parameter) {
    return ask(Request.cmd(Command.CONFIG, "GET", parameter))
        .flatMap(reply -> Optional.ofNullable(reply.get(parameter)))
        .map(Response::toString);
  }

  private Optional<Response> ask(Request request) {
    try {
      return Optional.ofNullable(redis.send(request));
    } catch (RedisException.Unavailable refused) {
      return Optional.empty();
    }
  }
}

package dev.holdfast.redis;

import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;

/** Makes the {@link RedisClient} that fits the configured kind of Redis. */
public final class RedisClientFactory {

  private RedisClientFactory() {}

  /**
   * Makes a client that does not report its commands.
   *
   * @see #create(Vertx, RedisOptions, Duration, RedisCommandListener)
   */
  public static RedisClient create(Vertx vertx, RedisOptions options, Duration timeout) {
    return create(vertx, options, timeout, RedisCommandListener.NONE);
  }

  /**
   * Makes a client, which does not connect yet.
   *
   * @param options addresses and kind of Redis: a server, servers watched by sentinels, or a
   *     cluster; must allow more than {@link RedisClient#MAX_PENDING} waiting commands
   * @param timeout how long Redis may be silent before the client gives up on a command; also the
   *     time limit for connecting
   * @param listener observes every exchange with a server
   * @throws IllegalArgumentException when Redis is of another kind
   */
  public static RedisClient create(
      Vertx vertx, RedisOptions options, Duration timeout, RedisCommandListener listener) {
    VertxRedisFactory servers = new VertxRedisFactory(vertx, options);
    return switch (options.getType()) {
      case STANDALONE -> new ServerClient(servers::newClient, false, timeout, listener);
      case SENTINEL -> new ServerClient(servers::newClient, true, timeout, listener);
      case CLUSTER -> new ClusterClient(servers, timeout, listener);
      case REPLICATION ->
          throw new IllegalArgumentException(
              "Redis of type REPLICATION is not supported: it does not find a new primary");
    };
  }
}

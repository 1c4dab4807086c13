package dev.holdfast.redis;

import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/** Makes the {@link RedisClient} that fits the configured kind of Redis. */
public final class RedisClientFactory {

  private final Vertx vertx;
  private final Supplier<RedisOptions> current;

  private RedisClientFactory(Vertx vertx, Supplier<RedisOptions> current) {
    this.vertx = vertx;
    this.current = current;
  }

  /**
   * Makes a client, which does not connect yet.
   *
   * @param options addresses and kind of Redis: a server, servers watched by sentinels, or a
   *     cluster; must allow more than {@link RedisClient#MAX_PENDING} waiting commands. Each new
   *     connection uses those of its time; the addresses and the kind do not change
   * @param timeout how long Redis may be silent before the client gives up on a command; also the
   *     time limit for connecting
   * @param listener observes every exchange with a server
   * @throws IllegalArgumentException when Redis is of another kind
   */
  public static RedisClient create(
      Vertx vertx,
      Supplier<RedisOptions> options,
      Duration timeout,
      RedisClient.Listener listener) {
    RedisClientFactory servers = new RedisClientFactory(vertx, options);
    return switch (options.get().getType()) {
      case STANDALONE -> new ServerClient(servers::newClient, false, timeout, listener);
      case SENTINEL -> new ServerClient(servers::newClient, true, timeout, listener);
      case CLUSTER ->
          new ClusterClient(
              new ClusterNodes(servers::newClientFor, servers.seedAddresses(), timeout, listener));
      case REPLICATION ->
          throw new IllegalArgumentException(
              "Redis of type REPLICATION is not supported: it does not find a new primary");
    };
  }

  /**
   * Makes a client for the server, or for the primary that a sentinel names at that moment.
   *
   * <p>Vert.x asks the sentinels in order and waits for ever for a frozen one. The order is
   * shuffled so that the next attempt begins with another sentinel. Automatic failover is off:
   * Vert.x would replace the primary without reporting that the old connection has ended.
   */
  private Redis newClient() {
    RedisOptions options = current.get();
    List<String> shuffled = new ArrayList<>(options.getEndpoints());
    Collections.shuffle(shuffled);
    return Redis.createClient(
        vertx,
        new RedisOptions(options)
            .setEndpoints(shuffled)
            .setRole(RedisRole.MASTER)
            .setAutoFailover(false));
  }

  private Redis newClientFor(ServerAddress address) {
    RedisOptions options = current.get();
    String url = address.urlLike(URI.create(options.getEndpoints().getFirst()));
    return Redis.createClient(
        vertx,
        new RedisOptions(options).setType(RedisClientType.STANDALONE).setEndpoints(List.of(url)));
  }

  private List<ServerAddress> seedAddresses() {
    return current.get().getEndpoints().stream().map(URI::create).map(ServerAddress::of).toList();
  }
}

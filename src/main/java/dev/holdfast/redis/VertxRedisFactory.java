package dev.holdfast.redis;

import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Makes Vert.x clients from the configured options, also for other servers of the cluster. */
final class VertxRedisFactory {

  private final Vertx vertx;
  private final RedisOptions options;

  VertxRedisFactory(Vertx vertx, RedisOptions options) {
    this.vertx = vertx;
    this.options = new RedisOptions(options);
  }

  /**
   * Makes a client for the server, or for the primary that a sentinel names at that moment.
   *
   * <p>Vert.x asks the sentinels in order and waits for ever for a frozen one. The order is
   * shuffled so that the next attempt begins with another sentinel. Automatic failover is off:
   * Vert.x would replace the primary without reporting that the old connection has ended.
   */
  Redis newClient() {
    List<String> shuffled = new ArrayList<>(options.getEndpoints());
    Collections.shuffle(shuffled);
    return Redis.createClient(
        vertx,
        new RedisOptions(options)
            .setEndpoints(shuffled)
            .setRole(RedisRole.MASTER)
            .setAutoFailover(false));
  }

  Redis newClientFor(ServerAddress address) {
    String url = address.urlLike(URI.create(options.getEndpoints().getFirst()));
    return Redis.createClient(
        vertx,
        new RedisOptions(options).setType(RedisClientType.STANDALONE).setEndpoints(List.of(url)));
  }

  List<ServerAddress> seedAddresses() {
    return options.getEndpoints().stream().map(URI::create).map(ServerAddress::of).toList();
  }
}

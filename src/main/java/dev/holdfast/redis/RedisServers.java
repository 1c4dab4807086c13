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

/** Makes clients for the servers that are configured, and for others that are like them. */
final class RedisServers {

  private final Vertx vertx;
  private final RedisOptions options;

  RedisServers(Vertx vertx, RedisOptions options) {
    this.vertx = vertx;
    this.options = new RedisOptions(options);
  }

  /**
   * Makes a client for the server, or for the primary that a sentinel names at that moment.
   *
   * <p>Vert.x asks the sentinels one after the other, and waits for ever for one that is frozen;
   * whoever is waiting for a connection tries again, and then another one comes first. It is not
   * told to change the primary below a connection: nobody would hear that the old one has ended.
   */
  Redis configured() {
    List<String> shuffled = new ArrayList<>(options.getEndpoints());
    Collections.shuffle(shuffled);
    return Redis.createClient(
        vertx,
        new RedisOptions(options)
            .setEndpoints(shuffled)
            .setRole(RedisRole.MASTER)
            .setAutoFailover(false));
  }

  /** Makes a client for one server of a cluster. */
  Redis at(RedisAddress address) {
    String url = address.like(URI.create(options.getEndpoints().getFirst()));
    return Redis.createClient(
        vertx,
        new RedisOptions(options).setType(RedisClientType.STANDALONE).setEndpoints(List.of(url)));
  }

  /** Those that are configured. */
  List<RedisAddress> seeds() {
    return options.getEndpoints().stream().map(URI::create).map(RedisAddress::of).toList();
  }
}

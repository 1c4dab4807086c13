package dev.holdfast.wiring;

import dev.holdfast.redis.RedisChannel;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisLink;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;

/** The two connections of this replica to Redis. Made only where Redis is the store. */
@Singleton
final class RedisConnections {

  private static final Duration BEAT = Duration.ofSeconds(2);

  private final RedisKeys keys;
  private final String replica = UUID.randomUUID().toString();
  private final RedisLink link;
  private final RedisChannel channel;

  RedisConnections(
      GatewayConfig config, RedisClients clients, Vertx vertx, Instance<Redis> described) {
    Supplier<Redis> supplier = clients.on(vertx, described);
    keys = new RedisKeys(config.redis().prefix());
    link = new RedisLink(supplier, config.redis().timeout());
    channel = new RedisChannel(supplier, link, keys.replicaChannel(replica), BEAT);
  }

  RedisKeys keys() {
    return keys;
  }

  String replica() {
    return replica;
  }

  RedisLink link() {
    return link;
  }

  RedisChannel channel() {
    return channel;
  }

  void close() {
    channel.close();
    link.close();
  }
}

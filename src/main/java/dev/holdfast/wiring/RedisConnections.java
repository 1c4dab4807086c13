package dev.holdfast.wiring;

import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisCommandListener;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.time.Duration;

/** The connections of this replica to Redis. Made only where Redis is the store. */
@Singleton
final class RedisConnections {

  private static final Duration BEAT = Duration.ofSeconds(1);

  /** An opening takes two commands, or one more when Redis does not answer in time. */
  private static final int LINGER = 10;

  private final RedisKeys keys;
  private final ReplicaId replica = ReplicaId.random();
  private final RedisClient link;
  private final RedisSubscription channel;
  private final OwnedSessions sessions;

  RedisConnections(
      GatewayConfig config,
      RedisDescription description,
      Vertx vertx,
      Instance<Redis> described,
      RedisCommandListener listener) {
    keys = new RedisKeys(config.redis().prefix());
    link =
        RedisClientFactory.create(
            vertx, description.read(described), config.redis().timeout(), listener);
    channel =
        new RedisSubscription(
            link::newSubscriptionClient, link, keys.replicaChannel(replica.value()), BEAT);
    sessions =
        new OwnedSessions(link, keys, replica, config.redis().timeout().multipliedBy(LINGER));
  }

  RedisKeys keys() {
    return keys;
  }

  ReplicaId replica() {
    return replica;
  }

  RedisClient link() {
    return link;
  }

  RedisSubscription channel() {
    return channel;
  }

  OwnedSessions sessions() {
    return sessions;
  }

  void close() {
    channel.close();
    link.close();
  }
}

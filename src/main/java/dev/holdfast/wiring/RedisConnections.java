package dev.holdfast.wiring;

import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.redis.RedisSubscription;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisCommandListener;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.time.Duration;

/** This replica's id and its connections to Redis. Created only for the Redis store. */
@Singleton
final class RedisConnections {

  private static final Duration SUBSCRIPTION_CHECK_INTERVAL = Duration.ofSeconds(1);

  /** Opening a session takes two commands, or three if Redis does not answer in time. */
  private static final int TIMEOUTS_UNTIL_FORGOTTEN = 10;

  private final RedisKeys keys;
  private final ReplicaId replica = ReplicaId.random();
  private final RedisClient link;
  private final RedisSubscription channel;
  private final OwnedSessions sessions;

  RedisConnections(
      GatewayConfig config,
      QuarkusRedisOptions options,
      Vertx vertx,
      Instance<Redis> configured,
      RedisCommandListener listener) {
    Duration timeout = config.redis().timeout();
    keys = new RedisKeys(config.redis().prefix());
    link = RedisClientFactory.create(vertx, options.read(configured), timeout, listener);
    channel =
        new RedisSubscription(
            link::newSubscriptionClient,
            link,
            keys.replicaChannel(replica.value()),
            SUBSCRIPTION_CHECK_INTERVAL);
    sessions =
        new OwnedSessions(link, keys, replica, timeout.multipliedBy(TIMEOUTS_UNTIL_FORGOTTEN));
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

  /** The channel on which other replicas notify this one. */
  RedisSubscription channel() {
    return channel;
  }

  /** The sessions in which this replica owns streams. */
  OwnedSessions sessions() {
    return sessions;
  }

  void close() {
    channel.close();
    link.close();
  }
}

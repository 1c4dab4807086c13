package dev.holdfast.wiring;

import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisCommandListener;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;

/**
 * This replica and its connections to Redis. They exist only with the Redis store.
 *
 * @param replica the id of this replica, new with each start
 * @param link sends commands
 * @param channel receives notifications of other replicas
 * @param sessions the sessions in which this replica owns streams
 */
record RedisConnections(
    RedisKeys keys,
    ReplicaId replica,
    RedisClient link,
    RedisSubscription channel,
    OwnedSessions sessions) {

  private static final Duration CHANNEL_CHECK_INTERVAL = Duration.ofSeconds(1);

  /** Opening a session takes two commands, or three if Redis does not answer in time. */
  private static final int TIMEOUTS_UNTIL_FORGOTTEN = 10;

  static RedisConnections open(
      RedisOptions options,
      GatewayConfig.Redis config,
      Vertx vertx,
      RedisCommandListener listener) {
    RedisKeys keys = new RedisKeys(config.prefix());
    ReplicaId replica = ReplicaId.random();
    RedisClient link = RedisClientFactory.create(vertx, options, config.timeout(), listener);
    return new RedisConnections(
        keys,
        replica,
        link,
        new RedisSubscription(
            link::newSubscriptionClient,
            link,
            keys.replicaChannel(replica.value()),
            CHANNEL_CHECK_INTERVAL),
        new OwnedSessions(
            link, keys, replica, config.timeout().multipliedBy(TIMEOUTS_UNTIL_FORGOTTEN)));
  }

  void close() {
    channel.close();
    link.close();
  }
}

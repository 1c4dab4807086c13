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
 * @param client sends commands
 * @param subscription receives notifications of other replicas
 * @param ownedSessions the sessions in which this replica owns streams
 */
record RedisConnections(
    RedisKeys keys,
    ReplicaId replica,
    RedisClient client,
    RedisSubscription subscription,
    OwnedSessions ownedSessions) {

  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

  /**
   * A session without streams stays recorded for this number of timeouts. Opening a stream takes at
   * most three timeouts.
   */
  private static final int OWNED_SESSION_TIMEOUTS = 10;

  static RedisConnections open(
      RedisOptions options,
      GatewayConfig.Redis config,
      Vertx vertx,
      RedisCommandListener listener) {
    RedisKeys keys = new RedisKeys(config.prefix());
    ReplicaId replica = ReplicaId.random();
    RedisClient client = RedisClientFactory.create(vertx, options, config.timeout(), listener);
    return new RedisConnections(
        keys,
        replica,
        client,
        new RedisSubscription(
            client::newSubscriptionClient,
            client,
            keys.replicaChannel(replica.value()),
            PROBE_INTERVAL),
        new OwnedSessions(
            client, keys, replica, config.timeout().multipliedBy(OWNED_SESSION_TIMEOUTS)));
  }

  void close() {
    subscription.close();
    client.close();
  }
}

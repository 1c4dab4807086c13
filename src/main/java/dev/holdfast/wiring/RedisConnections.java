package dev.holdfast.wiring;

import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.redis.LayoutGuard;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import io.quarkus.redis.client.RedisOptionsCustomizer;
import io.quarkus.tls.CertificateUpdatedEvent;
import io.quarkus.tls.runtime.config.TlsConfigUtils;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * This replica and its connections to Redis. They exist only with the Redis store; otherwise, the
 * bean is an empty {@link Optional}.
 *
 * @param replica the id of this replica, new with each start
 * @param subscription receives notifications of other replicas
 * @param ownedSessions the sessions in which this replica owns streams
 */
record RedisConnections(
    RedisKeys keys,
    ReplicaId replica,
    ReplicaList replicas,
    RedisClient client,
    RedisSubscription subscription,
    OwnedSessions ownedSessions) {

  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(1);

  /**
   * A session without streams stays recorded for this number of timeouts. Opening a stream takes at
   * most three timeouts.
   */
  private static final int OWNED_SESSION_TIMEOUTS = 10;

  void close() {
    subscription.close();
    client.close();
  }

  /**
   * Opens the connections with the options of {@code quarkus.redis.*}. Quarkus applies these
   * options to one client with a pool. Holdfast needs a client per connection, so it copies them.
   */
  @Singleton
  static final class Producer implements RedisOptionsCustomizer {

    private static final String TLS = "quarkus.redis.tls-configuration-name";

    /** Never changed in place: a thread may be connecting with them. */
    private final AtomicReference<RedisOptions> options = new AtomicReference<>();

    @Override
    public void customize(String client, RedisOptions configured) {
      NetClientOptions net = configured.getNetClientOptions();
      if (net.getHostnameVerificationAlgorithm() == null) {
        net.setHostnameVerificationAlgorithm("HTTPS"); // Vert.x refuses to connect without one.
      }
      options.set(configured);
    }

    /** New connections use renewed certificates. Open connections go on. */
    void renewed(@Observes CertificateUpdatedEvent event, SmallRyeConfig config) {
      RedisOptions before = options.get();
      if (before != null
          && config.getOptionalValue(TLS, String.class).filter(event.name()::equals).isPresent()) {
        RedisOptions after = new RedisOptions(before);
        boolean ssl = before.getNetClientOptions().isSsl();
        TlsConfigUtils.configure(after.getNetClientOptions(), event.tlsConfiguration());
        after.getNetClientOptions().setSsl(ssl); // The URL decides.
        options.set(after);
      }
    }

    /**
     * Connects to Redis if that is the store.
     *
     * @param configured its creation makes Quarkus read the options; the client never connects
     */
    @Produces
    @Singleton
    Optional<RedisConnections> connections(
        CheckedConfig checked,
        ClusterConfig cluster,
        Vertx vertx,
        Instance<Redis> configured,
        Instance<RedisClient.Listener> listener) {
      GatewayConfig gateway = checked.gateway();
      if (gateway.store() == GatewayConfig.Store.MEMORY) {
        return Optional.empty();
      }
      configured.get().close();
      Duration timeout = gateway.redis().timeout();
      RedisKeys keys = new RedisKeys(gateway.redis().prefix());
      ReplicaId replica = ReplicaId.random();
      RedisClient client =
          new LayoutGuard(
              RedisClientFactory.create(vertx, options::get, timeout, listener.get()), keys);
      return Optional.of(
          new RedisConnections(
              keys,
              replica,
              new ReplicaList(client, keys, cluster.deadAfter()),
              client,
              new RedisSubscription(
                  client::newSubscriptionClient,
                  client,
                  keys.replicaChannel(replica.value()),
                  PROBE_INTERVAL),
              new OwnedSessions(
                  client, keys, replica, timeout.multipliedBy(OWNED_SESSION_TIMEOUTS))));
    }
  }
}

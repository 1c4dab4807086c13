package dev.holdfast.wiring;

import dev.holdfast.redis.RedisCommandListener;
import io.quarkus.redis.client.RedisOptionsCustomizer;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Produces the connections to Redis with the options of {@code quarkus.redis.*}. Quarkus applies
 * these options to one client with a pool. Holdfast needs a client per connection, so it copies
 * them.
 */
@Singleton
final class RedisProducer implements RedisOptionsCustomizer {

  private final AtomicReference<RedisOptions> options = new AtomicReference<>();

  @Override
  public void customize(String client, RedisOptions configured) {
    options.set(configured);
  }

  /**
   * Connects to Redis.
   *
   * @param configured its creation makes Quarkus read the options; the client never connects
   */
  @Produces
  @Singleton
  RedisConnections connections(
      GatewayConfig config,
      Vertx vertx,
      Instance<Redis> configured,
      RedisCommandListener listener) {
    configured.get().close();
    return RedisConnections.open(options.get(), config.redis(), vertx, listener);
  }
}

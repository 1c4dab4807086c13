package dev.holdfast.wiring;

import io.quarkus.redis.client.RedisOptionsCustomizer;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Makes Redis clients as {@code quarkus.redis.*} describes them. Quarkus reads those keys and makes
 * one client with a pool; we need a client for each of our two connections, so the options of that
 * one are kept and used again.
 */
@Singleton
final class RedisClients implements RedisOptionsCustomizer {

  private final AtomicReference<RedisOptions> options = new AtomicReference<>();

  @Override
  public void customize(String client, RedisOptions described) {
    options.set(described);
  }

  /**
   * Makes clients.
   *
   * @param described makes Quarkus read the options; the client itself connects nowhere
   */
  Supplier<Redis> on(Vertx vertx, Instance<Redis> described) {
    described.get().close();
    RedisOptions read = options.get();
    return () -> Redis.createClient(vertx, new RedisOptions(read));
  }
}

package dev.holdfast.wiring;

import io.quarkus.redis.client.RedisOptionsCustomizer;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Where Redis is, as {@code quarkus.redis.*} describes it. Quarkus reads those keys and makes one
 * client with a pool; we need a client for each of our connections, so the options of that one are
 * kept and used again.
 */
@Singleton
final class RedisDescription implements RedisOptionsCustomizer {

  private final AtomicReference<RedisOptions> options = new AtomicReference<>();

  @Override
  public void customize(String client, RedisOptions described) {
    options.set(described);
  }

  /**
   * Reads the options.
   *
   * @param described makes Quarkus read them; the client itself connects nowhere
   */
  RedisOptions read(Instance<Redis> described) {
    described.get().close();
    return options.get();
  }
}

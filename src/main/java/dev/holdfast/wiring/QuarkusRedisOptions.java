package dev.holdfast.wiring;

import io.quarkus.redis.client.RedisOptionsCustomizer;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The Redis options that {@code quarkus.redis.*} sets. Quarkus applies them to one client with a
 * pool. Holdfast needs a client per connection, so it copies the options of that one.
 */
@Singleton
final class QuarkusRedisOptions implements RedisOptionsCustomizer {

  private final AtomicReference<RedisOptions> options = new AtomicReference<>();

  @Override
  public void customize(String client, RedisOptions configured) {
    options.set(configured);
  }

  /**
   * Returns the options.
   *
   * @param configured its creation makes Quarkus read the options; the client never connects
   */
  RedisOptions read(Instance<Redis> configured) {
    configured.get().close();
    return options.get();
  }
}

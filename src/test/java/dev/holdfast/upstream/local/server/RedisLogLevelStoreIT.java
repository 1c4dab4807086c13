package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisLogLevelStoreIT extends LogLevelStoreContract {

  private static final RedisKeys KEYS = new RedisKeys("test:");

  private RedisFixture redis;
  private Vertx vertx;
  private RedisClient link;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    vertx = Vertx.vertx();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    link =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
  }

  @AfterEach
  void stop() {
    link.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }

  @Override
  protected LogLevelStore create() {
    return replica(Duration.ofHours(1));
  }

  @Override
  protected LogLevelStore another() {
    return replica(Duration.ofHours(1));
  }

  private LogLevelStore replica(Duration timeToLive) {
    return new RedisLogLevelStore(link, KEYS, timeToLive);
  }

  @Test
  void shouldExpireAnUnusedLevel() {
    replica(Duration.ofMillis(100)).put(SESSION, LogLevel.DEBUG);

    await().untilAsserted(() -> assertThat(redis.keys()).isEmpty());
  }

  @Test
  void shouldKeepALevelThatIsRead() {
    replica(Duration.ofMinutes(1)).put(SESSION, LogLevel.DEBUG);

    assertThat(replica(Duration.ofHours(1)).find(SESSION)).contains(LogLevel.DEBUG);

    assertThat(redis.command("TTL", KEYS.logLevel(SESSION))).startsWith(":3");
  }

  @Test
  void shouldFailWhileRedisIsAway() {
    LogLevelStore levels = create();
    redis.kill();

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> levels.put(SESSION, LogLevel.DEBUG));
    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> levels.find(SESSION));
  }
}

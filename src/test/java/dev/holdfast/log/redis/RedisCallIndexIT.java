package dev.holdfast.log.redis;

import static dev.holdfast.redis.RedisClient.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.CallIndex;
import dev.holdfast.log.CallIndexContract;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisCallIndexIT extends CallIndexContract {

  private static final RedisKeys KEYS = new RedisKeys("test:");

  private RedisFixture redis;
  private Vertx vertx;
  private RedisClient client;
  private CallIndex index;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    vertx = Vertx.vertx();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    client =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
    index = new RedisCallIndex(client, KEYS, "self", _ -> Optional.empty(), Duration.ofSeconds(3));
  }

  @AfterEach
  void stop() {
    client.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }

  @Override
  protected CallIndex index() {
    return index;
  }

  /** Waits until Redis has forgotten the entry. */
  @Override
  protected void pass(Duration time) {
    Request exists = Request.cmd(Command.EXISTS).arg(KEYS.call("call"));
    await()
        .until(
            () -> Optional.ofNullable(client.send(exists)).filter(n -> number(n) == 0).isPresent());
  }

  @Test
  void shouldBeAliveItself() {
    assertThat(index.silence("self")).contains(Duration.ZERO);
    assertThat(index.silence("other")).isEmpty();
  }
}

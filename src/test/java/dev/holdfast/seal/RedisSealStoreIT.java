package dev.holdfast.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisSealStoreIT {

  private static final Instant START = Instant.parse("2026-07-28T00:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final List<String> ADA = List.of("call", "ada", "default");

  private final AtomicReference<Instant> now = new AtomicReference<>(START);

  private RedisFixture redis;
  private Vertx vertx;
  private RedisClient client;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    vertx = Vertx.vertx();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    client =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
  }

  @AfterEach
  void stop() {
    client.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }

  private Seal replica() {
    return new Seal(new RedisSealStore(client, new RedisKeys("test:"), now::get), now::get);
  }

  private String seal(Seal by) {
    return by.seal("content".getBytes(UTF_8), now.get().plus(HOUR), ADA);
  }

  private static boolean opens(Seal by, String text) {
    return by.open(text, ADA).isPresent();
  }

  @Test
  void shouldOpenAtAnyReplica() {
    Seal one = replica();
    Seal two = replica();

    assertThat(opens(two, seal(one))).isTrue();
    assertThat(opens(one, seal(two))).isTrue();
    assertThat(opens(replica(), seal(one))).isTrue();
  }

  @Test
  void shouldAgreeAgainWhenRedisHasLostTheKey() {
    Seal one = replica();
    Seal two = replica();
    assertThat(opens(two, seal(one))).isTrue();
    Response _ = client.send(Request.cmd(Command.FLUSHALL));
    Seal three = replica();
    String other = seal(three);

    now.set(START.plus(Duration.ofMinutes(2)));

    assertThat(opens(three, seal(one))).isTrue();
    assertThat(opens(replica(), seal(two))).isTrue();
    assertThat(opens(one, other)).isTrue();
  }

  @Test
  void shouldUseANameOnce() {
    SealStore one = new RedisSealStore(client, new RedisKeys("test:"), now::get);
    SealStore two = new RedisSealStore(client, new RedisKeys("test:"), now::get);

    assertThat(one.use("a")).isTrue();
    assertThat(two.use("a")).isFalse();
    two.release("a");
    assertThat(two.use("a")).isTrue();
  }
}

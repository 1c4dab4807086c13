package dev.holdfast.upstream.local.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisLink;
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
class RedisLogLevelsIT {

  private static final String SESSION = "a-session.er";

  private RedisFixture redis;
  private Vertx vertx;
  private RedisLink link;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    vertx = Vertx.vertx();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    link = new RedisLink(vertx, options, Duration.ofSeconds(5));
  }

  @AfterEach
  void stop() {
    link.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }

  private RedisLogLevels replica(Duration timeToLive) {
    return new RedisLogLevels(link, new RedisKeys("test:"), timeToLive);
  }

  @Test
  void shouldTellEveryReplicaTheLevelThatCameLast() {
    RedisLogLevels one = replica(Duration.ofHours(1));
    RedisLogLevels other = replica(Duration.ofHours(1));
    assertThat(other.find(SESSION)).isEmpty();

    one.put(SESSION, LogLevel.DEBUG);
    one.put(SESSION, LogLevel.ALERT);

    assertThat(other.find(SESSION)).contains(LogLevel.ALERT);
    assertThat(other.find("another")).isEmpty();
  }

  @Test
  void shouldForgetASessionThatHasEnded() {
    RedisLogLevels levels = replica(Duration.ofHours(1));
    levels.put(SESSION, LogLevel.DEBUG);

    levels.remove(SESSION);

    await().untilAsserted(() -> assertThat(redis.keys()).isEmpty());
  }

  @Test
  void shouldForgetALevelThatNobodyGoesBy() {
    RedisLogLevels levels = replica(Duration.ofSeconds(1));

    levels.put(SESSION, LogLevel.DEBUG);

    await().untilAsserted(() -> assertThat(redis.keys()).isEmpty());
  }

  @Test
  void shouldKeepALevelThatCallsGoBy() {
    replica(Duration.ofSeconds(1)).put(SESSION, LogLevel.DEBUG);

    assertThat(replica(Duration.ofHours(1)).find(SESSION)).contains(LogLevel.DEBUG);

    assertThat(redis.command("TTL", "test:level:" + SESSION)).isIn(":3600", ":3599", ":3598");
  }

  @Test
  void shouldSayThatItCannotTellWhileRedisIsAway() {
    RedisLogLevels levels = replica(Duration.ofHours(1));
    redis.kill();

    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> levels.put(SESSION, LogLevel.DEBUG));
    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> levels.find(SESSION));
  }
}

package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the guard does on Redis servers with this layout, another one, and none. */
class LayoutGuardIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final Request PING = Request.cmd(Command.PING);

  @AutoClose private static final RedisFixture redis = RedisFixture.start();
  private static final Vertx vertx = Vertx.vertx();

  private final LayoutGuard guard =
      new LayoutGuard(
          RedisClientFactory.create(
              vertx,
              () -> new RedisOptions().setConnectionString(redis.url()),
              Duration.ofSeconds(5),
              RedisClient.Listener.NONE),
          KEYS);

  @AfterAll
  static void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @BeforeEach
  void forget() {
    redis.command("FLUSHALL");
  }

  @AfterEach
  void close() {
    guard.close();
  }

  @Test
  void shouldRecordItsLayoutInAnEmptyRedis() {
    guard.send(PING);

    assertThat(redis.command("SETNX", KEYS.layout(), "2")).isEqualTo(":0");
    assertThat(redis.reply("GET", KEYS.layout())).containsExactly(LayoutGuard.LAYOUT);
  }

  @Test
  void shouldSendNothingToARedisWithAnotherLayout() {
    redis.command("SET", KEYS.layout(), "0");

    List<ThrowingCallable> refused =
        List.of(
            () -> guard.send(Request.cmd(Command.INCR).arg("n")),
            () -> guard.sendAll(List.of(Request.cmd(Command.INCR).arg("n"))),
            () -> guard.check(KEYS.check()));

    assertThat(refused)
        .allSatisfy(call ->
            assertThatExceptionOfType(RedisException.Unavailable.class)
                .isThrownBy(call)
                .withMessageContaining("layout 0", "layout " + LayoutGuard.LAYOUT));
    assertThatThrownBy(() -> guard.sendLater(PING).toCompletableFuture().join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(RedisException.Unavailable.class);
    assertThat(redis.keys()).containsExactly(KEYS.layout());
  }

  @Test
  void shouldServeWhenTheDataOfTheOtherLayoutIsGone() {
    redis.command("SET", KEYS.layout(), "0");
    assertThatExceptionOfType(RedisException.Unavailable.class).isThrownBy(() -> guard.send(PING));

    redis.command("FLUSHALL");

    assertThat(guard.send(PING)).hasToString("PONG");
    assertThat(guard.sendLater(PING).toCompletableFuture().join()).hasToString("PONG");
  }

  /** Otherwise a replica with another layout could join the replicas that still run. */
  @Test
  void shouldRecordItsLayoutAgainWhenRedisLostEverything() {
    guard.check(KEYS.check());
    redis.command("FLUSHALL");

    guard.check(KEYS.check());

    assertThat(redis.reply("GET", KEYS.layout())).containsExactly(LayoutGuard.LAYOUT);
  }

  @Test
  void shouldStopWhenReplicasWithAnotherLayoutCameFirst() {
    guard.check(KEYS.check());
    redis.command("SET", KEYS.layout(), "2");

    assertThatExceptionOfType(RedisException.Unavailable.class).isThrownBy(guard::requireLayout);
    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> guard.check(KEYS.check()));
    assertThatExceptionOfType(RedisException.Unavailable.class).isThrownBy(() -> guard.send(PING));
  }

  @Test
  void shouldRefuseKeysOfAnotherProgram() {
    redis.command("SET", KEYS.sessions(), "text");

    assertThatThrownBy(() -> guard.check(KEYS.check())).hasMessageContaining("another program");

    redis.command("DEL", KEYS.sessions());
    guard.check(KEYS.check());
  }

  /** On a cluster, the keys of all sessions and those of one may be at different servers. */
  @Test
  void shouldGoOnWithAKnownLayoutThatCannotBeRead() {
    guard.check(KEYS.check());
    redis.command("ACL", "SETUSER", "default", "-get");
    try {
      guard.check(KEYS.check());
    } finally {
      redis.command("ACL", "SETUSER", "default", "+get");
    }
  }

  /** An operator must be able to purge a Redis that takes no more writes. */
  @Test
  void shouldReadTheLayoutOfARedisThatRefusesWrites() {
    redis.command("SET", KEYS.layout(), LayoutGuard.LAYOUT);
    redis.command("CONFIG", "SET", "maxmemory", "1");
    try {
      assertThat(guard.send(PING)).hasToString("PONG");
    } finally {
      redis.command("CONFIG", "SET", "maxmemory", "0");
    }
  }
}

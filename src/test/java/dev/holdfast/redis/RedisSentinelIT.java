package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SentinelFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One link to a primary that sentinels exchange for another. */
@Timeout(90)
class RedisSentinelIT {

  private static final Duration FAILED_OVER = Duration.ofSeconds(40);
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final Request INCREMENT = Request.cmd(Command.INCR).arg("count");

  @AutoClose private static final SentinelFixture servers = SentinelFixture.start();

  private final Vertx vertx = Vertx.vertx();

  @SuppressWarnings("NullAway.Init")
  private RedisClient link;

  @BeforeEach
  void start() {
    RedisOptions options =
        new RedisOptions()
            .setType(RedisClientType.SENTINEL)
            .setMasterName(SentinelFixture.NAME)
            // Of no use to one who writes.
            .setRole(RedisRole.REPLICA)
            .setAutoFailover(true);
    Stream.of(servers.hosts().split(",")).forEach(options::addConnectionString);
    link = RedisClientFactory.create(vertx, () -> options, TIMEOUT, RedisClient.Listener.NONE);
  }

  @AfterEach
  void stop() {
    link.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private boolean works() {
    try {
      return link.send(INCREMENT) != null;
    } catch (RedisException failure) {
      return false;
    }
  }

  private static long connections(RedisFixture server) {
    // The sentinels have theirs too, with names; and one connection asks.
    return server
            .reply("CLIENT", "LIST", "TYPE", "NORMAL")
            .getFirst()
            .lines()
            .filter(client -> !client.contains("name=sentinel-"))
            .count()
        - 1;
  }

  @Test
  void shouldHaveOneConnectionAndThatToThePrimary() {
    assertThat(works()).isTrue();

    await().untilAsserted(() -> assertThat(connections(servers.primary())).isEqualTo(1));
    link.check("check");
    assertThat(servers.primary().command("EXISTS", "check")).isEqualTo(":0");
  }

  @Test
  void shouldFindTheNewPrimaryWhenTheOldOneIsKilled() {
    assertThat(works()).isTrue();
    RedisFixture lost = servers.primary();

    lost.kill();

    assertThatExceptionOfType(RedisException.class).isThrownBy(() -> link.check("check"));
    await().atMost(FAILED_OVER).until(this::works);
    link.check("check");
    // Not all sentinels hear of it at the same time.
    servers.awaitFailover(lost);
  }

  @Test
  void shouldFindTheNewPrimaryWhileTheOldOneIsFrozen() {
    assertThat(works()).isTrue();
    RedisFixture frozen = servers.primary();

    frozen.freeze();

    assertThatExceptionOfType(RedisException.UnknownOutcome.class)
        .isThrownBy(() -> link.send(INCREMENT));
    await().atMost(FAILED_OVER).until(this::works);
    // It takes itself for the primary still, but nobody is led there.
    frozen.thaw();
    assertThat(works()).isTrue();
  }

  /** Vert.x asks them in their order, and would wait for this one. */
  @Test
  void shouldConnectWhileASentinelIsFrozen() {
    RedisFixture frozen = servers.sentinels().getFirst();
    frozen.freeze();
    try {
      await().atMost(FAILED_OVER).until(this::works);
    } finally {
      frozen.thaw();
    }
  }

  /** What a sentinel says may be old. */
  @Test
  void shouldNotTakeAReplicaForThePrimary() {
    RedisOptions options = new RedisOptions().setConnectionString(servers.replica().url());
    try (ServerClient node =
        new ServerClient(
            () -> Redis.createClient(vertx, options), true, TIMEOUT, RedisClient.Listener.NONE)) {
      assertThatExceptionOfType(RedisException.Unavailable.class)
          .isThrownBy(() -> node.send(Request.cmd(Command.GET).arg("count")));
    }
  }

  /** A primary that is made a replica doesn't always end its connections. */
  @Test
  void shouldLeaveAServerThatIsNoPrimaryAnyMore() {
    try (RedisFixture server = RedisFixture.start()) {
      RedisOptions options = new RedisOptions().setConnectionString(server.url());
      try (ServerClient node =
          new ServerClient(
              () -> Redis.createClient(vertx, options), true, TIMEOUT, RedisClient.Listener.NONE)) {
        node.send(INCREMENT);
        server.command("REPLICAOF", "127.0.0.1", Integer.toString(servers.primary().port()));

        assertThatExceptionOfType(RedisException.Unavailable.class)
            .isThrownBy(() -> node.send(INCREMENT));
        assertThat(node.isConnected()).isFalse();
      }
    }
  }
}

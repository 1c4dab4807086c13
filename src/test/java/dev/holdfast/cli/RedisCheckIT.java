package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks the results for a Redis server with various settings. */
class RedisCheckIT {

  private static final InstantSource CLOCK = InstantSource.system();
  private static final long QUOTA = 100 << 20;

  private static Vertx vertx;
  private static RedisFixture redis;
  private static RedisClient client;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    redis = RedisFixture.start();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    client =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
  }

  @AfterAll
  static void stop() {
    client.close();
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static CheckResult result(String check, InstantSource clock) {
    RedisServerInfo info = new RedisServerInfo(client, new RedisKeys("holdfast:"));
    return new RedisCheck(info, QUOTA, clock)
        .run().stream().filter(each -> each.check().equals(check)).findFirst().orElseThrow();
  }

  private static void set(String parameter, String value) {
    assertThat(redis.command("CONFIG", "SET", parameter, value)).isEqualTo("+OK");
  }

  @ParameterizedTest
  @CsvSource({
    "allkeys-lru, 100mb, WRONG, may drop sessions and streams in use",
    "volatile-ttl, 100mb, WRONG, may drop sessions and streams in use",
    "allkeys-lru, 0, DOUBTFUL, 'allkeys-lru, and no maxmemory'",
    "noeviction, 100mb, FINE, noeviction",
  })
  void shouldCheckEviction(
      String policy, String maxMemory, CheckResult.Verdict verdict, String found) {
    set("maxmemory-policy", policy);
    set("maxmemory", maxMemory);

    CheckResult eviction = result("eviction", CLOCK);

    assertThat(eviction.verdict()).isEqualTo(verdict);
    assertThat(eviction.found()).contains(found);
  }

  /** Without wake-ups, other replicas would look for events once in a while only. */
  @Test
  void shouldSayThatTheUserMayNotSubscribe() {
    redis.command("ACL", "SETUSER", "default", "resetchannels");
    try {
      CheckResult store = result("store", CLOCK);

      assertThat(store.verdict()).isEqualTo(CheckResult.Verdict.STORE_UNAVAILABLE);
      assertThat(store.found()).contains("subscribe", "NOPERM");
    } finally {
      redis.command("ACL", "SETUSER", "default", "allchannels");
    }
  }

  /** Redis needs more than the bytes of the events. */
  @ParameterizedTest
  @CsvSource({
    "0, FINE, 'no maxmemory; holdfast.redis.max-bytes is 100 MB'",
    "150mb, FINE, 'maxmemory is 150 MB, and holdfast.redis.max-bytes is 100 MB'",
    "149mb, DOUBTFUL, may refuse writes before Holdfast removes events",
    "50mb, DOUBTFUL, 'maxmemory is 50 MB, and'",
  })
  void shouldCompareMaxmemoryWithTheQuota(
      String maxMemory, CheckResult.Verdict verdict, String found) {
    set("maxmemory-policy", "noeviction");
    set("maxmemory", maxMemory);

    CheckResult memory = result("memory", CLOCK);

    assertThat(memory.verdict()).isEqualTo(verdict);
    assertThat(memory.found()).contains(found);
    if (verdict == CheckResult.Verdict.DOUBTFUL) {
      assertThat(memory.fix()).contains("set maxmemory to 150 MB or more");
    }
  }

  @Test
  void shouldCheckPersistence() {
    set("save", "3600 1");
    assertThat(result("persistence", CLOCK).found()).startsWith("snapshots (save 3600 1)");
    set("save", "");
    assertThat(result("persistence", CLOCK).found()).startsWith("none");
    set("appendonly", "yes");
    assertThat(result("persistence", CLOCK))
        .isEqualTo(CheckResult.fine("persistence", "append-only file"));
    set("appendonly", "no");
  }

  @ParameterizedTest
  @CsvSource({"PT0S, FINE", "PT-1M, WRONG", "PT1M, WRONG"})
  void shouldCompareClocks(Duration offset, CheckResult.Verdict verdict) {
    CheckResult clock = result("clock", shifted(offset));

    assertThat(clock.verdict()).isEqualTo(verdict);
    if (verdict == CheckResult.Verdict.WRONG) {
      assertThat(clock.found()).matches("(5[5-9]|6\\d)\\d{3} ms from the clock of Redis");
    }
  }

  private static InstantSource shifted(Duration by) {
    return () -> CLOCK.instant().plus(by);
  }
}

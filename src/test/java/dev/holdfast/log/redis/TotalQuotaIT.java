package dev.holdfast.log.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Retention;
import dev.holdfast.log.redis.write.AppendScripts;
import dev.holdfast.log.redis.write.StreamReports;
import dev.holdfast.redis.LostServer;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.testing.RedisFixture;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The bytes of all sessions together. */
class TotalQuotaIT {

  private static final Retention RETENTION = LogTesting.keeping(1000, 10);

  @AutoClose private final RedisFixture redis = RedisFixture.start();

  private void add(String session, String client, int bytes) {
    List<String> keys = Replica.KEYS.allSizes();
    redis.command("ZADD", keys.get(0), Integer.toString(bytes), session);
    redis.command("INCRBY", keys.get(1), Integer.toString(bytes));
    redis.command("HSET", keys.get(3), session, client);
    redis.command("ZADD", keys.get(4), Integer.toString(bytes), client);
    redis.command("ZADD", keys.get(4) + ":" + client, Integer.toString(bytes), session);
  }

  /** The largest one would be named for ever, and none of the others would give way. */
  @Test
  void shouldPassOverASessionWhoseServerIsAway() {
    add("lost", "a", 5000);
    add("large", "b", 4000);
    String key = Replica.KEYS.session("lost");
    redis.command("SET", key, "its scripts fail");
    redis.command("SET", Replica.KEYS.sizes("lost"), "its scripts fail");
    try (Replica replica = new Replica("a", redis.url(), RETENTION)) {
      RedisClient cluster = LostServer.of(key, replica.client);
      AppendScripts appends = new AppendScripts(cluster, Replica.KEYS, "a", RETENTION);
      StreamReports reports = new StreamReports(appends, RETENTION);

      new TotalQuota(cluster, Replica.KEYS, "a", 1000, Long.MAX_VALUE, reports).keep();

      assertThat(redis.reply("ZRANGE", Replica.KEYS.allSizes().getFirst(), "0", "-1"))
          .containsExactly("lost");
    }
  }
}

package dev.holdfast.http.limit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.http.limit.ClientUse;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class RedisUseExchangeIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final Pattern CALLS = Pattern.compile("cmdstat_(\\w+):calls=(\\d+)");
  private static final String ALICE = "alice";

  private final RedisFixture redis = RedisFixture.start();
  private final Vertx vertx = Vertx.vertx();
  private final List<RedisClient> clients = new ArrayList<>();
  private final RedisUseExchange a = replica("a");
  private final RedisUseExchange b = replica("b");
  private final RedisUseExchange c = replica("c");

  @AfterEach
  void close() {
    clients.forEach(RedisClient::close);
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private RedisUseExchange replica(String name) {
    RedisClient client =
        RedisClientFactory.create(
            vertx,
            () -> new RedisOptions().setConnectionString(redis.url()),
            Duration.ofMillis(500),
            RedisClient.Listener.NONE);
    connect(client);
    clients.add(client);
    return new RedisUseExchange(client, KEYS, name);
  }

  private static void connect(RedisClient client) {
    var _ = client.send(Request.cmd(Command.PING));
  }

  private static Map<String, ClientUse> use(int held, int wanted) {
    return Map.of(ALICE, new ClientUse(held, wanted));
  }

  @Test
  void shouldAddWhatOthersUse() {
    assertThat(a.exchange(use(1, 2))).isEmpty();
    assertThat(b.exchange(use(10, 20))).isEqualTo(use(1, 2));
    assertThat(c.exchange(use(100, 200))).isEqualTo(use(11, 22));
    assertThat(a.exchange(use(2, 2))).isEqualTo(use(110, 220));
    assertThat(b.exchange(use(10, 20))).isEqualTo(use(102, 202));
  }

  @Test
  void shouldReadOnlyWhatIsUsedHere() {
    a.exchange(use(1, 1));

    Map<String, ClientUse> own = new HashMap<>();
    IntStream.range(0, 100).forEach(i -> own.put("other" + i, new ClientUse(1, 1)));
    assertThat(b.exchange(own)).isEmpty();
  }

  @Test
  void shouldRemoveItsNoteWhenNoClientIsBusy() {
    a.exchange(use(1, 1));
    b.exchange(use(1, 1));

    a.exchange(Map.of());
    assertThat(b.exchange(use(1, 1))).isEmpty();
    b.exchange(Map.of());
    connect(clients.get(1));
    assertThat(redis.keys()).isEmpty();
  }

  @Test
  void shouldDisregardAReplicaThatIsGone() {
    a.exchange(use(5, 5));

    for (int i = 0; i < RedisUseExchange.SAME; i++) {
      assertThat(b.exchange(use(1, 1))).isEqualTo(use(5, 5));
    }
    assertThat(b.exchange(use(1, 1))).isEmpty();
    assertThat(c.exchange(use(1, 1))).isEqualTo(use(1, 1));

    // It was frozen only.
    a.exchange(use(6, 6));
    assertThat(b.exchange(use(1, 1))).isEqualTo(use(7, 7));
  }

  @Test
  void shouldKeepNothingWhenAllAreGone() {
    a.exchange(use(5, 5));

    String key = redis.keys().getFirst();
    assertThat(Integer.parseInt(redis.command("PTTL", key).substring(1))).isBetween(1, 10_000);
  }

  @Test
  void withoutRedisShouldKnowOfNoOthers() {
    a.exchange(use(5, 5));
    assertThat(b.exchange(use(1, 1))).isEqualTo(use(5, 5));

    redis.kill();
    assertThat(b.exchange(use(1, 1))).isEmpty();
    redis.restart();
    clients.forEach(RedisUseExchangeIT::connect);
    a.exchange(use(5, 5));
    assertThat(b.exchange(use(1, 1))).isEqualTo(use(5, 5));
  }

  @Test
  void withAFrozenRedisShouldKnowOfNoOthers() {
    a.exchange(use(5, 5));

    redis.freeze();
    assertThat(b.exchange(use(1, 1))).isEmpty();
    redis.thaw();
  }

  /** Such as one of a later version. */
  @Test
  void shouldCountAloneBesideANoteThatItCannotRead() {
    a.exchange(use(5, 5));
    redis.command("HSET", redis.keys().getFirst(), "c", "c 1 " + ALICE + " many more");

    assertThat(b.exchange(use(1, 1))).isEmpty();
  }

  /** Three replicas, in one second; all of these clients are busy on each. */
  @ParameterizedTest
  @CsvSource({"0, 0", "10, 90", "1000, 144"})
  void shouldCostFewCommands(int busy, int mostCommands) {
    Map<String, ClientUse> own = new HashMap<>();
    IntStream.range(0, busy)
        .forEach(i -> own.put("client-%04d".formatted(i), new ClientUse(99, 99)));
    a.exchange(own);
    redis.command("CONFIG", "RESETSTAT");

    for (RedisUseExchange each : List.of(a, b, c)) {
      each.exchange(own);
    }

    String stats = redis.reply("INFO", "commandstats").getFirst();
    int commands = 0;
    for (Matcher each = CALLS.matcher(stats); each.find(); ) {
      commands += each.group(1).equals("config") ? 0 : Integer.parseInt(each.group(2));
    }
    assertThat(commands).as(stats).isLessThanOrEqualTo(mostCommands);
    long bytes =
        redis.keys().stream()
            .mapToLong(key -> Long.parseLong(redis.command("MEMORY", "USAGE", key).substring(1)))
            .sum();
    assertThat(redis.keys()).hasSizeLessThanOrEqualTo(RedisUseExchange.SLICES);
    assertThat(bytes).isLessThanOrEqualTo(100_000);
  }
}

package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One link to a cluster whose servers are lost, and whose slots move. */
@Timeout(90)
class ClusterClientIT {

  /** Far longer than the servers take to promote another: a second each to notice and to vote. */
  private static final Duration PROMOTED = Duration.ofSeconds(40);

  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final Vertx vertx = Vertx.vertx();
  private final List<String> failures = new CopyOnWriteArrayList<>();

  @AutoClose private static final ClusterFixture cluster = ClusterFixture.start();

  @SuppressWarnings("NullAway.Init")
  private RedisClient link;

  @BeforeEach
  void start() {
    link = linkTo(cluster.hosts());
  }

  private RedisClient linkTo(String hosts) {
    RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
    Stream.of(hosts.split(",")).forEach(options::addConnectionString);
    return RedisClientFactory.create(vertx, () -> options, TIMEOUT, RedisClient.Listener.NONE);
  }

  @AfterEach
  void stop() {
    link.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static Request increment(String key) {
    return Request.cmd(Command.INCR).arg(key);
  }

  private static Request get(String key) {
    return Request.cmd(Command.GET).arg(key);
  }

  private static List<@Nullable String> texts(List<@Nullable Response> replies) {
    List<@Nullable String> texts = new ArrayList<>();
    replies.forEach(reply -> texts.add(reply == null ? null : reply.toString()));
    return texts;
  }

  /** A key of another server than the given one. */
  private String elsewhere(String key) {
    RedisFixture primary = cluster.primaryOf(key);
    return IntStream.range(0, 1000)
        .mapToObj(i -> "else" + i)
        .filter(other -> cluster.primaryOf(other) != primary)
        .findFirst()
        .orElseThrow();
  }

  private boolean works(String key) {
    try {
      return link.send(increment(key)) != null;
    } catch (RedisException failure) {
      return false;
    }
  }

  private static long connections(RedisFixture server) {
    // One of them asks.
    return server.reply("CLIENT", "LIST", "TYPE", "NORMAL").getFirst().lines().count() - 1;
  }

  @Test
  void shouldFindTheServerOfEachKeyOverOneConnectionToEach() {
    List<Request> all = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      all.add(increment("key" + i));
    }

    assertThat(texts(link.sendAll(all))).hasSize(300).containsOnly("1");
    all.forEach(each -> assertThat(link.send(each)).hasToString("2"));
    List<CompletableFuture<@Nullable Response>> later =
        all.stream().map(each -> link.sendLater(each).toCompletableFuture()).toList();
    later.forEach(each -> assertThat(each.join()).hasToString("3"));

    // The maps are read from all at first; what is not needed after that is closed.
    await()
        .untilAsserted(() ->
            assertThat(cluster.servers().stream().map(ClusterClientIT::connections).sorted())
                .containsExactly(0L, 0L, 0L, 1L, 1L, 1L));
  }

  /** One seed, with what everyone is told who asks to be let in. */
  @Test
  void shouldNameItselfToAllServers() {
    cluster
        .servers()
        .forEach(each -> each.command("ACL", "SETUSER", "app", "on", ">p@ss", "~*", "&*", "+@all"));
    String seed = cluster.servers().getLast().url().replace("//", "//app:p%40ss@");

    try (RedisClient named = linkTo(seed)) {
      for (int i = 0; i < 20; i++) {
        Response _ = named.send(get("{" + i + "}:named"));
      }

      List<RedisFixture> known =
          cluster.servers().stream()
              .filter(each -> each.reply("CLIENT", "LIST").getFirst().contains("user=app"))
              .toList();
      assertThat(known).hasSizeGreaterThanOrEqualTo(3);
    }
  }

  @Test
  void shouldRunScriptsWhereTheirKeysAre() {
    RedisScript script = new RedisScript(link, ClusterClientIT.class, "increment.lua");
    for (int i = 0; i < 20; i++) {
      String key = "{" + i + "}:script";
      assertThat(script.run(List.of(key))).hasToString("1");
      CompletableFuture<Boolean> done = new CompletableFuture<>();
      script.runLater(List.of(key)).whenComplete((_, _) -> done.complete(true));
      assertThat(done.join()).isTrue();
      assertThat(link.send(get(key))).hasToString("2");
    }
  }

  @Test
  void shouldGoOnWithOtherSlotsAndThenWithAllWhenAPrimaryIsKilled() {
    String key = "lost";
    String other = elsewhere(key);
    assertThat(works(key) && works(other)).isTrue();
    RedisFixture primary = cluster.primaryOf(key);

    primary.kill();

    assertThatExceptionOfType(RedisException.class).isThrownBy(() -> link.send(increment(key)));
    assertThat(link.isAway(key)).isTrue();
    assertThat(link.isAway(other)).isFalse();
    link.check("check"); // Others are there, so the replica stays ready.
    awaitWhileOthersGoOn(key, other);
    assertThat(failures).isEmpty();
    assertThat(link.isAway(key)).isFalse();

    primary.restart();
    assertThat(works(key)).isTrue();
  }

  @Test
  void shouldGoOnWithOtherSlotsAndThenWithAllWhenAPrimaryIsFrozen() {
    String key = "frozen";
    String other = elsewhere(key);
    assertThat(works(key) && works(other)).isTrue();
    RedisFixture primary = cluster.primaryOf(key);

    primary.freeze();
    long before = System.nanoTime();
    Throwable failure = catchThrowable(() -> link.send(increment(key)));
    Duration took = Duration.ofNanos(System.nanoTime() - before);

    // Though others answer all the time.
    assertThat(failure).isInstanceOf(RedisException.UnknownOutcome.class);
    assertThat(took).isLessThan(TIMEOUT.multipliedBy(20));
    awaitWhileOthersGoOn(key, other);
    assertThat(failures).isEmpty();

    // It takes itself for the primary still, until the others tell.
    primary.thaw();
    cluster.awaitWhole();
    await().atMost(PROMOTED).until(() -> works(key) && works(other));
  }

  private void awaitWhileOthersGoOn(String key, String other) {
    Thread others =
        Thread.ofVirtual()
            .start(() -> {
              while (!Thread.interrupted()) {
                if (!works(other) && !Thread.currentThread().isInterrupted()) {
                  failures.add("a key of another server");
                }
              }
            });
    try {
      await().atMost(PROMOTED).until(() -> works(key));
    } finally {
      others.interrupt();
    }
  }

  /** Nothing was known before. */
  @Test
  void shouldConnectWhileAServerIsFrozen() {
    RedisFixture first = cluster.servers().getFirst();
    first.freeze();
    try {
      await().atMost(PROMOTED).until(() -> works("any"));
    } finally {
      first.thaw();
      cluster.awaitWhole();
    }
  }

  @Test
  void shouldFollowASlotThatMoves() throws Exception {
    String key = "moving";
    assertThat(works(key)).isTrue();
    RedisFixture from = cluster.primaryOf(key);
    RedisFixture to = cluster.primaryOf(elsewhere(key));
    String slot = from.reply("CLUSTER", "KEYSLOT", key).getFirst();
    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(to));

    // Another key of the slot, which was not there before it began to move: ASK.
    String another = "{" + key + "}:another";
    assertThat(link.send(increment(another))).hasToString("1");
    assertThat(texts(link.sendAll(List.of(get(another), get(key))))).containsExactly("1", "1");
    assertThat(link.sendLater(increment(another)).toCompletableFuture().get(5, TimeUnit.SECONDS))
        .hasToString("2");

    from.command("MIGRATE", "127.0.0.1", Integer.toString(to.port()), key, "0", "5000");
    to.command("CLUSTER", "SETSLOT", slot, "NODE", id(to));
    from.command("CLUSTER", "SETSLOT", slot, "NODE", id(to));

    // MOVED, and only once.
    assertThat(texts(link.sendAll(List.of(increment(key), increment(another)))))
        .containsExactly("2", "3");
    assertThat(link.send(increment(key))).hasToString("3");
  }

  private static String id(RedisFixture server) {
    return server.reply("CLUSTER", "MYID").getFirst();
  }
}

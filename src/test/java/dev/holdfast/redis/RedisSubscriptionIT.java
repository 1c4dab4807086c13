package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A subscription whose connection is lost, deaf, or not allowed, while commands go on. */
@Timeout(60)
class RedisSubscriptionIT {

  private static final Duration BEAT = Duration.ofMillis(200);

  /** Three beats, and time for a slow machine. */
  private static final Duration NOTICED = Duration.ofSeconds(20);

  private final Vertx vertx = Vertx.vertx();
  private final RedisFixture redis = RedisFixture.start();
  private final RedisProxy proxy = new RedisProxy(redis.port());
  private final RedisClient link =
      RedisClientFactory.create(
          vertx,
          () -> new RedisOptions().setConnectionString(redis.url()),
          Duration.ofSeconds(1),
          RedisClient.Listener.NONE);
  private final RedisSubscription channel =
      new RedisSubscription(
          () -> Redis.createClient(vertx, new RedisOptions().setConnectionString(proxy.url())),
          link,
          "channel",
          BEAT);
  private final List<String> heard = new CopyOnWriteArrayList<>();

  @BeforeEach
  void subscribe() {
    assertThatExceptionOfType(RedisException.Unavailable.class).isThrownBy(channel::check);
    channel.addListener(heard::add, () -> heard.add("subscribed"));
    channel.start();
    await().ignoreExceptions().untilAsserted(channel::check);
  }

  @AfterEach
  void close() {
    channel.close();
    link.close();
    proxy.close();
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private void awaitDeaf() {
    await()
        .atMost(NOTICED)
        .untilAsserted(() ->
            assertThatExceptionOfType(RedisException.Unavailable.class).isThrownBy(channel::check));
    assertThatCode(() -> link.check("check")).doesNotThrowAnyException();
  }

  private void awaitHeard(String message) {
    await()
        .atMost(NOTICED)
        .until(() -> {
          redis.command("PUBLISH", "channel", message);
          return heard.contains(message);
        });
    channel.check();
  }

  @Test
  void shouldSayThatItIsDeafUntilItIsHeardAgain() {
    proxy.mute();
    awaitDeaf();

    proxy.unmute();
    awaitHeard("again");
  }

  @Test
  void shouldSayThatItMayNotSubscribe() {
    redis.command("ACL", "SETUSER", "default", "-subscribe");
    try (LoggedLines log = new LoggedLines(RedisSubscription.class)) {
      redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      awaitDeaf();

      log.await("Redis refuses the subscription channel=channel reason=NOPERM");
      assertThat(log.lines()).hasSize(1);
    }
    assertThatThrownBy(channel::check).hasMessageContaining("NOPERM");
    assertThatThrownBy(channel::tryOnce).hasMessageContaining("NOPERM");

    redis.command("ACL", "SETUSER", "default", "+subscribe");
    awaitHeard("again");
    assertThatCode(channel::tryOnce).doesNotThrowAnyException();
  }

  @Test
  void shouldMakeNothingOfALossThatIsHealedAtOnce() {
    redis.command("CLIENT", "KILL", "TYPE", "pubsub");

    await()
        .atMost(NOTICED)
        .until(() -> {
          channel.check();
          return heard.stream().filter("subscribed"::equals).count() == 2;
        });
    channel.check();
  }

  /** Under load, a replica once subscribed again, and looked at everything, which was more load. */
  @Test
  void shouldNotTakeABusyConnectionForADeafOne() {
    AtomicInteger subscriptions = new AtomicInteger();
    AtomicInteger probes = new AtomicInteger();
    RedisClient busy =
        (RedisClient)
            Proxy.newProxyInstance(
                RedisClient.class.getClassLoader(),
                new Class<?>[] {RedisClient.class},
                (_, method, arguments) -> {
                  Thread.sleep(BEAT.multipliedBy(5)); // Others are first.
                  probes.incrementAndGet();
                  return method.invoke(link, arguments);
                });
    try (RedisSubscription slow =
        new RedisSubscription(
            () -> Redis.createClient(vertx, new RedisOptions().setConnectionString(redis.url())),
            busy,
            "slow",
            BEAT)) {
      slow.addListener(_ -> {}, subscriptions::incrementAndGet);
      slow.start();

      await().atMost(NOTICED).until(() -> probes.get() >= 4);

      assertThat(subscriptions).hasValue(1);
      slow.check();
    }
  }
}

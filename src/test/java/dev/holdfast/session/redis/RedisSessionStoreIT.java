package dev.holdfast.session.redis;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.redis.LayoutGuard;
import dev.holdfast.redis.LostServer;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreContract;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SampleSession;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RedisSessionStoreIT extends SessionStoreContract {

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private static Vertx vertx;

  private final List<RedisClient> links = new ArrayList<>();
  private RedisKeys keys = new RedisKeys("none:");
  private Duration idleTimeout = Duration.ofHours(1);
  private int limit = 1;

  /** A primary that was voted out would otherwise say that living sessions are gone. */
  @Test
  void shouldNotSayThatASessionIsGoneWhileRedisTakesNoWrites() {
    SessionStore store = create(Duration.ofHours(1), 10);
    assertThat(store.find(SessionId.random())).isEmpty();
    redis.command("CONFIG", "SET", "min-replicas-to-write", "1");
    try {
      assertThatExceptionOfType(SessionStoreException.class)
          .isThrownBy(() -> store.find(SessionId.random()));
    } finally {
      redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  }

  /** A replica of another version may have come in the meantime. */
  @Test
  void shouldBeginNoSessionBesideDataOfAnotherLayout() {
    keys = new RedisKeys("test-" + UUID.randomUUID() + ":");
    SessionStore store =
        new RedisSessionStore(
            new LayoutGuard(connect(), keys), keys, idleTimeout, idleTimeout, () -> limits(10));
    store.create(opened());
    redis.command("SET", keys.layout(), "0");

    assertThatExceptionOfType(SessionStoreException.class)
        .isThrownBy(() -> store.create(opened()))
        .withStackTraceContaining("layout 0");
  }

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }

  @AfterEach
  void disconnect() {
    links.forEach(RedisClient::close);
  }

  @Override
  public SessionStore create(Duration timeout, int most) {
    keys = new RedisKeys("test-" + UUID.randomUUID() + ":");
    idleTimeout = timeout;
    limit = most;
    return another();
  }

  @Override
  public SessionStore another() {
    return new RedisSessionStore(
        connect(), keys, idleTimeout, idleTimeout.multipliedBy(20), () -> limits(limit));
  }

  private RedisClient connect() {
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    RedisClient link =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
    links.add(link);
    return link;
  }

  @Override
  public void pass(Duration time) {
    // Redis has its own clock, so the tests wait.
  }

  private static Session opened() {
    return SampleSession.of(
        SessionId.random(),
        "u",
        null,
        ProtocolVersion.V2025_11_25,
        "",
        Instant.EPOCH,
        "",
        Principal.ANONYMOUS);
  }

  /** Redis serves nobody else while a script removes what has expired. */
  @Test
  void shouldRemoveSomeExpiredSessionsOfAnOpenerAtOnce() {
    SessionStore store = create(Duration.ofHours(1), 10);
    Session session = opened();
    String index = keys.openedSessions(session.opener());
    redis.command(
        "EVAL", "for i = 1, 2000 do redis.call('ZADD', ARGV[1], 1, i) end return 1", "0", index);

    store.create(session);

    assertThat(redis.command("ZCARD", index)).isEqualTo(":" + (2000 - 256 + 1));
  }

  @Test
  void shouldEndOtherSessionsBesideOneWhoseServerIsAway() {
    create(Duration.ofMillis(50), 10);
    Session broken = opened();
    Session other = opened();
    SessionStore store =
        new RedisSessionStore(
            LostServer.of(keys.session(broken.id().value()), connect()),
            keys,
            idleTimeout,
            idleTimeout.multipliedBy(20),
            () -> limits(limit));
    store.create(broken);
    store.create(other);
    breakKey(broken);

    List<Session> ended = new ArrayList<>();
    await()
        .untilAsserted(() -> {
          ended.addAll(store.endExpired(1));
          assertThat(ended).containsExactly(other);
        });
    assertThat(store.endExpired(10)).isEmpty();
    assertThat(store.count()).isEqualTo(1);
  }

  /** Makes all scripts on a session fail. */
  private void breakKey(Session session) {
    String key = keys.session(session.id().value());
    redis.command("DEL", key);
    redis.command("SET", key, "x");
  }

  @Test
  void shouldTouchOtherSessionsThanThoseWhoseServerIsAway() {
    create(Duration.ofHours(1), 10);
    List<Session> sessions = List.of(opened(), opened(), opened());
    for (Session away : sessions) {
      RedisClient cluster = LostServer.of(keys.session(away.id().value()), connect());
      SessionStore store =
          new RedisSessionStore(
              cluster,
              keys,
              idleTimeout,
              idleTimeout.multipliedBy(20),
              () -> new SessionLimits(10, 10, Map.of()));
      sessions.stream().filter(each -> store.find(each.id()).isEmpty()).forEach(store::create);
      breakKey(away);
      Instant used = Instant.now().truncatedTo(ChronoUnit.MILLIS).plusMillis(1);

      Set<SessionId> missed =
          store.touch(
              sessions.stream().collect(toMap(Session::id, _ -> SessionActivity.none(used))));

      assertThat(missed).containsExactly(away.id());
      redis.command("DEL", keys.session(away.id().value()));
      assertThat(sessions)
          .filteredOn(each -> !each.equals(away))
          .allSatisfy(each -> assertThat(store.lastUsed(each.id())).hasValue(used));
    }
  }

  /** A sweep must find it after its timeout. */
  @Test
  void shouldKeepTheDataOfASessionForLongerThanItsTimeout() {
    keys = new RedisKeys("test-" + UUID.randomUUID() + ":");
    Duration timeout = Duration.ofHours(2);
    SessionStore store =
        new RedisSessionStore(connect(), keys, timeout, timeout.plusMinutes(30), () -> limits(10));
    Session session = opened();
    store.create(session);
    String key = keys.session(session.id().value());
    long before = Instant.now().plus(timeout).minus(Duration.ofMinutes(11)).toEpochMilli();
    redis.command("HSET", key, "expires", Long.toString(before));
    redis.command("PEXPIRE", key, "60000");

    assertThat(store.touch(Map.of(session.id(), SessionActivity.none(Instant.EPOCH)))).isEmpty();

    long left = Long.parseLong(redis.command("PTTL", key).substring(1));
    assertThat(left).isGreaterThan(timeout.plusMinutes(20).toMillis());
  }

  /** Redis has expired the session while no replica ran, but the index still lists it. */
  @Test
  void shouldRemoveASessionWhoseDataRedisHasDropped() {
    SessionStore store = create(Duration.ofMillis(50), 10);
    Session session = opened();
    store.create(session);
    assertThat(redis.command("DEL", keys.session(session.id().value()))).isEqualTo(":1");

    await()
        .untilAsserted(() -> {
          assertThat(store.endExpired(10)).isEmpty();
          assertThat(store.count()).isZero();
        });
  }

  @Test
  void shouldFollowAChangeOfItsLimits() {
    create(Duration.ofHours(1), 10);
    AtomicReference<SessionLimits> limits =
        new AtomicReference<>(new SessionLimits(1, 10, Map.of()));
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    RedisClient link =
        RedisClientFactory.create(
            vertx, () -> options, Duration.ofSeconds(5), RedisClient.Listener.NONE);
    links.add(link);
    SessionStore store =
        new RedisSessionStore(link, keys, idleTimeout, idleTimeout.multipliedBy(20), limits::get);
    store.create(opened());
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(opened()));

    Session first = opened();
    limits.set(new SessionLimits(10, 10, Map.of(first.upstream(), 1)));
    store.create(first);
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(opened()));
    assertThat(store.end(first.id())).isTrue();
    store.create(opened());
    assertThat(store.count()).isEqualTo(2);
  }

  @Test
  void shouldGiveEveryKeyAnExpiry() {
    SessionStore store = create(Duration.ofHours(1), 10);
    Session session = opened();
    store.create(session);

    assertThat(redis.command("PTTL", keys.sessions())).matches(":\\d+");
    assertThat(redis.command("PTTL", keys.session(session.id().value()))).matches(":\\d+");
  }

  /** Before, sessions that nobody used kept clients out for a minute. */
  @Test
  void shouldFreePlacesOfUnusedSessionsSoonWhenFewAreLeft() {
    SessionStore store = create(Duration.ofHours(1), 4);
    List<String> ids = new ArrayList<>();
    for (String opener : List.of("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")) {
      Session session =
          Session.opening(SessionId.random(), "u", Instant.EPOCH, opener, Principal.ANONYMOUS, "");
      store.create(session);
      ids.add(session.id().value());
    }

    String soon = Long.toString(System.currentTimeMillis() + 30_000);
    String expires = redis.command("HGET", keys.session(ids.getLast()), "expires");
    await()
        .untilAsserted(() -> {
          assertThat(redis.command("ZCOUNT", keys.sessions(), "-inf", soon)).isEqualTo(":1");
          assertThat(redis.command("ZSCORE", keys.openedSessions("192.0.2.4"), ids.getLast()))
              .isEqualTo(expires);
        });
  }

  @Test
  void shouldReportAnUnreachableStore() {
    RedisOptions nowhere = new RedisOptions().setConnectionString("redis://127.0.0.1:1");
    RedisClient link =
        RedisClientFactory.create(
            vertx, () -> nowhere, Duration.ofSeconds(5), RedisClient.Listener.NONE);
    links.add(link);
    SessionStore store =
        new RedisSessionStore(link, keys, idleTimeout, idleTimeout, () -> limits(10));

    assertThatExceptionOfType(SessionStoreException.class)
        .isThrownBy(() -> store.find(SessionId.random()))
        .satisfies(away -> assertThat(away.getCause()).isNotNull());
  }
}

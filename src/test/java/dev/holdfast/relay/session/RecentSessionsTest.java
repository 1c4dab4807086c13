package dev.holdfast.relay.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.testing.SampleSession;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentSessionsTest {

  private static final Duration IDLE = Duration.ofHours(1);
  private static final Duration OFTEN = Duration.ofMinutes(6);
  private static final Duration RARELY = Duration.ofMinutes(40);

  private Instant now = Instant.ofEpochSecond(1_000_000);
  private final InstantSource clock = () -> now;
  private final SessionStore store =
      new MemorySessionStore(IDLE, () -> new SessionLimits(9, 9, Map.of()), clock);
  private final RecentSessions recent =
      new RecentSessions(counted(), _ -> new RecentSessions.Intervals(OFTEN, RARELY), 1, clock);
  private final Session session = sample();

  private int touches;
  private boolean isAway;

  private Session sample() {
    return SampleSession.of(
        SessionId.random(),
        "up",
        null,
        ProtocolVersion.V2025_11_25,
        "c 1",
        now,
        "opener",
        Principal.ANONYMOUS);
  }

  /** Counts what the store is told, which may be away. */
  private SessionStore counted() {
    return (SessionStore)
        Proxy.newProxyInstance(
            SessionStore.class.getClassLoader(),
            new Class<?>[] {SessionStore.class},
            (_, method, arguments) -> {
              if (method.getName().equals("touch")) {
                if (isAway) {
                  throw new SessionStoreException(null);
                }
                touches++;
              }
              return method.invoke(store, arguments);
            });
  }

  private void open() {
    store.create(session);
    recent.began(session);
  }

  private void pass(Duration time) {
    now = now.plus(time);
  }

  /** A session whose client only waited once expired as if unused. */
  @Test
  void shouldKeepTheSessionOfAClientThatOnlyWaitsWithFewCommands() {
    open();

    for (int i = 0; i < 60; i++) {
      recent.keep(Set.of(session.id()));
      recent.flush();
      pass(IDLE.dividedBy(12));
    }

    assertThat(store.find(session.id())).isPresent();
    assertThat(recent.known(session.id())).isEqualTo(session);
    // Once at first, and then each 45 minutes: the first step of five minutes after 40.
    assertThat(touches).isEqualTo(1 + 5 * 60 / 45);
  }

  @Test
  void shouldBeginTheIdleTimeoutWhenTheClientLeaves() {
    open();
    recent.keep(Set.of(session.id()));
    pass(Duration.ofMinutes(30));

    recent.keep(Set.of());
    pass(IDLE.minusSeconds(1));
    assertThat(store.find(session.id())).isPresent();
    recent.keep(Set.of());
    pass(Duration.ofSeconds(1));

    assertThat(store.find(session.id())).isEmpty();
  }

  @Test
  void shouldTellTheStoreAsSoonAsItIsBack() {
    open();
    recent.keep(Set.of(session.id()));
    recent.count(session, "192.0.2.1", false);
    pass(RARELY.plusSeconds(1));
    isAway = true;
    assertThatThrownBy(() -> recent.keep(Set.of(session.id())))
        .isInstanceOf(SessionStoreException.class);

    isAway = false;
    recent.keep(Set.of(session.id()));

    assertThat(touches).isEqualTo(2);
    SessionActivity activity = store.latest(0, 1).getFirst().activity();
    assertThat(activity).isEqualTo(new SessionActivity(now, "192.0.2.1", 1, 0));
  }

  @Test
  void shouldForgetASessionThatNobodyUses() {
    open();
    recent.used(session);
    pass(OFTEN.plusSeconds(1));

    recent.flush();

    assertThat(recent.known(session.id())).isNull();
  }

  @Test
  void shouldKeepOnlySessionsInUseIfThereAreTooMany() {
    Session busy = sample();
    Session waiting = sample();
    for (Session each : List.of(session, busy, waiting)) {
      store.create(each);
      recent.began(each);
      recent.used(each);
      recent.count(each, "127.0.0.1", false);
    }
    pass(RecentSessions.BRIEF);
    recent.count(busy, "127.0.0.1", false);
    recent.keep(Set.of(waiting.id()));
    assertThat(recent.known(session.id())).isEqualTo(session);

    pass(Duration.ofMillis(1));
    recent.keep(Set.of(waiting.id()));

    assertThat(recent.known(session.id())).isNull();
    assertThat(recent.known(busy.id())).isEqualTo(busy);
    assertThat(recent.known(waiting.id())).isEqualTo(waiting);
    assertThat(requests(session)).isEqualTo(1);
    assertThat(requests(busy)).isZero(); // Not saved yet.
  }

  private long requests(Session of) {
    return store.list(null, 9).entries().stream()
        .filter(each -> each.session().equals(of))
        .mapToLong(each -> each.activity().requests())
        .sum();
  }

  /** Sessions of clients that wait do not count. */
  @Test
  void shouldKeepUnusedSessionsWhileTheyAreFew() {
    open();
    recent.used(session);
    Session waiting = sample();
    store.create(waiting);
    recent.began(waiting);
    pass(Duration.ofMinutes(5));
    recent.keep(Set.of(waiting.id()));

    assertThat(recent.known(session.id())).isEqualTo(session);
  }
}

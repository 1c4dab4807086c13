package dev.holdfast.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.ProtocolVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The contract of {@link SessionStore}. Every adapter's test extends it. */
public abstract class SessionStoreContract {

  private static final String NARROW = "narrow";
  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Instant THEN = Instant.ofEpochMilli(1_800_000_100_000L);
  private static final SessionActivity NOTHING = SessionActivity.none(THEN);

  /** Creates an empty store. */
  protected abstract SessionStore create(Duration idleTimeout, int limit);

  /** So many sessions, one of them of {@link #NARROW}. */
  protected static SessionLimits limits(int all) {
    return new SessionLimits(all, Map.of(NARROW, 1));
  }

  /** Another view of the store that was created last, as another replica has it. */
  protected abstract SessionStore another();

  /** Lets time pass where it is simulated; elsewhere the tests wait for what they expect. */
  protected abstract void pass(Duration time);

  private static Session session() {
    return session("default");
  }

  private static Session session(String upstream) {
    return new Session(
        SessionId.random(),
        upstream,
        "up-1",
        ProtocolVersion.V2025_11_25,
        "client/1",
        Instant.ofEpochMilli(1_800_000_000_123L));
  }

  @Test
  void shouldFindWhatWasRecorded() {
    SessionStore store = create(LONG, 10);
    Session session = session();

    store.create(session);

    assertThat(store.find(session.id())).contains(session);
    assertThat(another().find(session.id())).contains(session);
    assertThat(store.count()).isEqualTo(1);
  }

  @Test
  void shouldKeepASessionWithoutAnUpstreamSession() {
    SessionStore store = create(LONG, 10);
    Session session =
        new Session(SessionId.random(), "u", null, ProtocolVersion.V2025_03_26, "", Instant.EPOCH);

    store.create(session);

    assertThat(store.find(session.id())).contains(session);
  }

  @Test
  void shouldLimitTheSessionsOfOneUpstreamByThemselves() {
    SessionStore store = create(LONG, 3);
    Session first = session(NARROW);
    store.create(first);

    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> another().create(session(NARROW)));
    store.create(session());

    assertThat(store.count()).isEqualTo(2);
    store.end(first.id());
    store.create(session(NARROW));
    store.create(session());
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(session()));
  }

  @Test
  void shouldTakeNoPlaceOfAnUpstreamWhereThereIsNoneOfAll() {
    SessionStore store = create(LONG, 1);
    Session only = session();
    store.create(only);
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(session(NARROW)));

    store.end(only.id());

    await()
        .untilAsserted(
            () -> assertThatCode(() -> store.create(session(NARROW))).doesNotThrowAnyException());
  }

  @Test
  void shouldMakeRoomInAnUpstreamWhenItsSessionHasExpired() {
    SessionStore store = create(SHORT, 10);
    store.create(session(NARROW));

    pass(SHORT);

    await()
        .untilAsserted(() -> {
          List<Session> _ = store.endExpired(10);
          assertThatCode(() -> store.create(session(NARROW))).doesNotThrowAnyException();
        });
  }

  /** A sweep may be minutes away, and sessions that are only opened cost a client nothing. */
  @Test
  void shouldMakeRoomBeforeWhatHasExpiredIsTaken() {
    SessionStore store = create(SHORT, 1);
    Session expired = session(NARROW);
    store.create(expired);

    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThatCode(() -> store.create(session(NARROW))).doesNotThrowAnyException());
    assertThat(store.endExpired(10)).contains(expired);
  }

  @Test
  void shouldNotFindWhatWasNeverRecorded() {
    assertThat(create(LONG, 10).find(SessionId.random())).isEmpty();
  }

  @Test
  void shouldKeepWhatBelongsToASession() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);

    store.saveUpstreamState(session.id(), "a", new byte[] {0, -1});
    another().saveUpstreamState(session.id(), "b", new byte[] {2});
    store.touch(session.id(), SessionActivity.none(Instant.EPOCH));
    store.saveUpstreamState(session.id(), "a", new byte[] {0, -2});

    assertThat(another().upstreamState(session.id(), "a")).hasValue(new byte[] {0, -2});
    assertThat(store.upstreamState(session.id(), "b")).hasValue(new byte[] {2});
    assertThat(store.upstreamState(session.id(), "c")).isEmpty();
  }

  @Test
  void shouldKeepNothingForASessionThatHasEnded() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    store.saveUpstreamState(session.id(), "a", new byte[] {1});

    store.end(session.id());
    store.saveUpstreamState(session.id(), "b", new byte[] {1});

    assertThat(store.upstreamState(session.id(), "a")).isEmpty();
    assertThat(store.upstreamState(session.id(), "b")).isEmpty();
    assertThat(another().find(session.id())).isEmpty();
  }

  @Test
  void shouldEndOnce() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);

    boolean first = another().end(session.id());

    assertThat(first).isTrue();
    assertThat(store.end(session.id())).isFalse();
    assertThat(store.find(session.id())).isEmpty();
    assertThat(store.count()).isZero();
  }

  @Test
  void shouldRefuseMoreThanTheLimitAndTakeOneAgainAfterAnEnd() {
    SessionStore store = create(LONG, 2);
    Session first = session();
    store.create(first);
    store.create(session());
    Session third = session();

    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> another().create(third));

    assertThat(store.find(third.id())).isEmpty();
    store.end(first.id());
    store.create(third);
    assertThat(store.find(third.id())).contains(third);
  }

  @Test
  void shouldExpireWhatNobodyUses() {
    SessionStore store = create(SHORT, 10);
    Session session = session();
    store.create(session);

    pass(SHORT);

    await().until(() -> store.find(session.id()).isEmpty());
    assertThat(another().endExpired(10)).containsExactly(session);
    assertThat(store.endExpired(10)).isEmpty();
    assertThat(store.count()).isZero();
  }

  @Test
  void shouldNotExpireWhatIsUsed() {
    SessionStore store = create(Duration.ofSeconds(2), 10);
    Session used = session();
    Session unused = session();
    store.create(used);
    store.create(unused);

    // Touched again and again until the other one, of the same age, has expired.
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          another().touch(used.id(), NOTHING);
          return store.find(unused.id()).isEmpty();
        });

    assertThat(store.find(used.id())).contains(used);
    assertThat(store.endExpired(10)).containsExactly(unused);
    assertThat(store.count()).isEqualTo(1);
  }

  @Test
  void shouldNotReviveWhatHasExpired() {
    SessionStore store = create(SHORT, 10);
    Session session = session();
    store.create(session);
    pass(SHORT);
    await().until(() -> store.find(session.id()).isEmpty());

    store.touch(session.id(), NOTHING);

    assertThat(store.find(session.id())).isEmpty();
    assertThat(store.endExpired(10)).containsExactly(session);
  }

  @Test
  void shouldIgnoreATouchOfTheUnknown() {
    SessionStore store = create(LONG, 10);
    SessionId unknown = SessionId.random();

    store.touch(unknown, NOTHING);
    store.recordActivity(unknown, NOTHING);

    assertThat(store.find(unknown)).isEmpty();
    assertThat(store.count()).isZero();
  }

  @Test
  void shouldTakeNoMoreThanAsked() {
    SessionStore store = create(SHORT, 10);
    for (int i = 0; i < 5; i++) {
      store.create(session());
    }
    pass(SHORT);

    await().until(() -> store.endExpired(2).size() == 2);

    await().until(() -> store.endExpired(2).size() == 2);
    await().until(() -> store.endExpired(2).size() == 1);
  }

  @Test
  void shouldGiveEachExpiredSessionToOneCallerOnly() throws Exception {
    SessionStore store = create(SHORT, 1000);
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      sessions.add(session());
      store.create(sessions.getLast());
    }
    pass(SHORT);
    await().until(() -> store.find(sessions.getLast().id()).isEmpty());

    List<Session> taken = new ArrayList<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Session>>> takes = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        SessionStore replica = i % 2 == 0 ? store : another();
        takes.add(callers.submit(() -> replica.endExpired(1000)));
      }
      for (Future<List<Session>> take : takes) {
        taken.addAll(take.get());
      }
    }

    assertThat(taken).containsExactlyInAnyOrderElementsOf(sessions);
  }

  private static List<SessionPage.Entry> listAll(SessionStore store, int about) {
    List<SessionPage.Entry> all = new ArrayList<>();
    SessionPage page = store.list(null, about);
    all.addAll(page.entries());
    while (page.next().isPresent()) {
      page = store.list(page.next().get(), about);
      all.addAll(page.entries());
    }
    return all;
  }

  private static SessionActivity activity(SessionStore store, Session session) {
    return listAll(store, 100).stream()
        .filter(entry -> entry.session().equals(session))
        .findFirst()
        .orElseThrow()
        .activity();
  }

  @Test
  void shouldAddUpWhatReplicasNote() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    SessionActivity fresh = activity(store, session);

    store.touch(session.id(), new SessionActivity(THEN.plusSeconds(9), "192.0.2.1", 3, 1));
    another().recordActivity(session.id(), new SessionActivity(THEN, "192.0.2.2", 2, 0));
    another().touch(session.id(), NOTHING);

    assertThat(fresh.requests()).isZero();
    assertThat(fresh.address()).isNull();
    assertThat(activity(store, session))
        .isEqualTo(new SessionActivity(THEN.plusSeconds(9), "192.0.2.2", 5, 1));
    assertThat(store.find(session.id())).contains(session);
  }

  @Test
  void shouldExpireInSpiteOfNotes() {
    SessionStore store = create(Duration.ofSeconds(1), 10);
    Session session = session();
    store.create(session);

    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          another().recordActivity(session.id(), NOTHING);
          return store.find(session.id()).isEmpty();
        });

    assertThat(store.list(null, 10).entries()).isEmpty();
    assertThat(store.endExpired(10)).containsExactly(session);
    assertThat(store.count()).isZero();
  }

  @Test
  void shouldLeaveNothingOfWhatHappenedBehind() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    store.touch(session.id(), SessionActivity.request(THEN, "192.0.2.1", true));
    store.end(session.id());

    store.create(session);

    assertThat(activity(store, session).requests()).isZero();
    assertThat(activity(store, session).address()).isNull();
  }

  /** More than Redis keeps in one piece, so that there really are pages. */
  @Test
  void shouldListEverySessionPageByPage() {
    SessionStore store = create(LONG, 1000);
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      sessions.add(session());
      store.create(sessions.getLast());
    }

    SessionPage first = store.list(null, 10);

    assertThat(first.entries()).hasSizeBetween(1, 100);
    assertThat(first.next()).isPresent();
    assertThat(listAll(another(), 10))
        .extracting(SessionPage.Entry::session)
        .containsExactlyInAnyOrderElementsOf(sessions);
  }

  @Test
  void shouldListNothingWhereThereIsNothing() {
    assertThat(create(LONG, 10).list(null, 10))
        .isEqualTo(new SessionPage(List.of(), Optional.empty()));
  }

  @Test
  void shouldRefusePagesThatCannotBe() {
    SessionStore store = create(LONG, 10);

    assertThatIllegalArgumentException().isThrownBy(() -> store.list(null, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.list(null, SessionStore.MAX_PAGE_SIZE + 1));
    assertThatIllegalArgumentException().isThrownBy(() -> store.list("no page", 10));
  }

  private static Session opening() {
    return Session.opening(SessionId.random(), "default", Instant.ofEpochMilli(1_800_000_000_123L));
  }

  @Test
  void shouldCompleteWhatWasOpenedOnce() {
    SessionStore store = create(LONG, 10);
    Session opening = opening();
    store.create(opening);
    Session initialized = opening.initialized("up-1", ProtocolVersion.V2025_06_18, "client/1");

    assertThat(store.find(opening.id())).contains(opening);
    assertThat(another().completeInitialization(initialized)).isTrue();
    assertThat(
            store.completeInitialization(
                opening.initialized("up-2", ProtocolVersion.V2025_06_18, "client/2")))
        .isFalse();

    assertThat(store.find(opening.id())).contains(initialized);
    assertThat(store.completeInitialization(opening())).isFalse();
  }

  @Test
  void shouldExpireWhatIsOpenedOnlyThoughItIsUsed() {
    SessionStore store = create(SHORT, 10);
    Session opening = opening();
    store.create(opening);

    await()
        .pollInterval(Duration.ofMillis(50))
        .until(() -> {
          store.touch(opening.id(), NOTHING);
          pass(Duration.ofMillis(100));
          return store.find(opening.id()).isEmpty();
        });

    assertThat(
            store.completeInitialization(
                opening.initialized(null, ProtocolVersion.V2024_11_05, "")))
        .isFalse();
    assertThat(another().endExpired(10)).containsExactly(opening);
  }

  @Test
  void shouldKeepWhatWasInitializedInTimeForTheIdleTimeOut() {
    SessionStore store = create(Duration.ofSeconds(2), 10);
    Session opening = opening();
    Session other = opening();
    store.create(opening);
    store.create(other);
    Session initialized = opening.initialized(null, ProtocolVersion.V2024_11_05, "");
    assertThat(store.completeInitialization(initialized)).isTrue();

    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          another().touch(opening.id(), NOTHING);
          return store.find(other.id()).isEmpty();
        });

    assertThat(store.find(opening.id())).contains(initialized);
    assertThat(store.endExpired(10)).containsExactly(other);
  }
}

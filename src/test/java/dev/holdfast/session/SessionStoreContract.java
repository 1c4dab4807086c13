package dev.holdfast.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.ProtocolVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The contract of {@link SessionStore}. Every adapter's test extends it. */
public abstract class SessionStoreContract {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(300);

  /** Creates an empty store. */
  protected abstract SessionStore create(Duration idleTimeout, int limit);

  /** Another view of the store that was created last, as another replica has it. */
  protected abstract SessionStore another();

  /** Lets time pass where it is simulated; elsewhere the tests wait for what they expect. */
  protected abstract void pass(Duration time);

  private static Session session() {
    return new Session(
        SessionId.random(),
        "default",
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
  void shouldNotFindWhatWasNeverRecorded() {
    assertThat(create(LONG, 10).find(SessionId.random())).isEmpty();
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
    assertThat(another().takeExpired(10)).containsExactly(session);
    assertThat(store.takeExpired(10)).isEmpty();
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
          another().touch(used.id());
          return store.find(unused.id()).isEmpty();
        });

    assertThat(store.find(used.id())).contains(used);
    assertThat(store.takeExpired(10)).containsExactly(unused);
    assertThat(store.count()).isEqualTo(1);
  }

  @Test
  void shouldNotReviveWhatHasExpired() {
    SessionStore store = create(SHORT, 10);
    Session session = session();
    store.create(session);
    pass(SHORT);
    await().until(() -> store.find(session.id()).isEmpty());

    store.touch(session.id());

    assertThat(store.find(session.id())).isEmpty();
    assertThat(store.takeExpired(10)).containsExactly(session);
  }

  @Test
  void shouldIgnoreATouchOfTheUnknown() {
    SessionStore store = create(LONG, 10);
    SessionId unknown = SessionId.random();

    store.touch(unknown);

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

    await().until(() -> store.takeExpired(2).size() == 2);

    await().until(() -> store.takeExpired(2).size() == 2);
    await().until(() -> store.takeExpired(2).size() == 1);
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
        takes.add(callers.submit(() -> replica.takeExpired(1000)));
      }
      for (Future<List<Session>> take : takes) {
        taken.addAll(take.get());
      }
    }

    assertThat(taken).containsExactlyInAnyOrderElementsOf(sessions);
  }
}

package dev.holdfast.session;

import static dev.holdfast.session.SessionStoreFixture.opening;
import static dev.holdfast.session.SessionStoreFixture.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Sessions that expire. */
interface SessionStoreExpiryContract extends SessionStoreFixture {

  @Test
  default void shouldExpireAnIdleSession() {
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
  default void shouldNotExpireATouchedSession() {
    SessionStore store = create(Duration.ofSeconds(2), 10);
    Session used = session();
    Session unused = session();
    store.create(used);
    store.create(unused);

    // Touches one session until the other one, of the same age, has expired.
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          var _ = another().touch(Map.of(used.id(), NOTHING));
          return store.find(unused.id()).isEmpty();
        });

    assertThat(store.find(used.id())).contains(used);
    assertThat(store.endExpired(10)).containsExactly(unused);
    assertThat(store.count()).isEqualTo(1);
  }

  @Test
  default void shouldNotReviveAnExpiredSession() {
    SessionStore store = create(SHORT, 10);
    Session session = session();
    store.create(session);
    pass(SHORT);
    await().until(() -> store.find(session.id()).isEmpty());

    var _ = store.touch(Map.of(session.id(), NOTHING));

    assertThat(store.find(session.id())).isEmpty();
    assertThat(store.endExpired(10)).containsExactly(session);
  }

  @Test
  default void shouldEndNoMoreExpiredSessionsThanAsked() {
    SessionStore store = create(SHORT, 10);
    for (int i = 0; i < 5; i++) {
      store.create(session());
    }
    pass(SHORT);
    List<Integer> ended = new ArrayList<>();

    await()
        .until(() -> {
          ended.add(store.endExpired(2).size());
          return ended.stream().mapToInt(Integer::intValue).sum() == 5;
        });

    assertThat(ended).allMatch(count -> count <= 2);
  }

  @Test
  default void shouldGiveEachExpiredSessionToOneCallerOnly() throws Exception {
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

  @Test
  default void shouldExpireASessionWithRecordedActivity() {
    SessionStore store = create(Duration.ofSeconds(1), 10);
    Session session = session();
    store.create(session);

    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          another().recordActivity(Map.of(session.id(), NOTHING));
          return store.find(session.id()).isEmpty();
        });

    assertThat(store.list(null, 10).entries()).isEmpty();
    assertThat(store.endExpired(10)).containsExactly(session);
    assertThat(store.count()).isZero();
  }

  @Test
  default void shouldExpireATouchedSessionThatIsNeverInitialized() {
    SessionStore store = create(SHORT, 10);
    Session opening = opening();
    store.create(opening);

    await()
        .pollInterval(Duration.ofMillis(50))
        .until(() -> {
          var _ = store.touch(Map.of(opening.id(), NOTHING));
          pass(Duration.ofMillis(100));
          return store.find(opening.id()).isEmpty();
        });

    assertThat(
            store.completeInitialization(
                opening.initialized(
                    null,
                    ProtocolVersion.V2024_11_05,
                    "",
                    opening.created(),
                    ForwardedHeaders.NONE)))
        .isFalse();
    assertThat(another().endExpired(10)).containsExactly(opening);
  }

  @Test
  default void shouldKeepAnInitializedSessionForTheIdleTimeout() {
    SessionStore store = create(Duration.ofSeconds(2), 10);
    Session opening = opening();
    Session other = opening();
    store.create(opening);
    store.create(other);
    Session initialized =
        opening.initialized(
            null, ProtocolVersion.V2024_11_05, "", opening.created(), ForwardedHeaders.NONE);
    assertThat(store.completeInitialization(initialized)).isTrue();

    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          var _ = another().touch(Map.of(opening.id(), NOTHING));
          return store.find(other.id()).isEmpty();
        });

    assertThat(store.find(opening.id())).contains(initialized);
    assertThat(store.endExpired(10)).containsExactly(other);
  }
}

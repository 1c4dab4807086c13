package dev.holdfast.session;

import static dev.holdfast.session.SessionStoreFixture.opening;
import static dev.holdfast.session.SessionStoreFixture.session;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.testing.SampleSession;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Creating, finding and ending sessions, and their upstream state. */
interface SessionStoreLifecycleContract extends SessionStoreFixture {

  /** As clients send them, also with bytes that are not ASCII. */
  ForwardedHeaders HEADERS =
      new ForwardedHeaders(Map.of("x-tenant", "blue: a=1", "x-name", "J\u00fcrgen"));

  @Test
  default void shouldFindACreatedSession() {
    SessionStore store = create(LONG, 10);
    Session session = session();

    store.create(session);

    assertThat(store.find(session.id())).contains(session);
    assertThat(another().find(session.id())).contains(session);
    assertThat(store.count()).isEqualTo(1);
  }

  @Test
  default void shouldKeepASessionWithoutAnUpstreamSession() {
    SessionStore store = create(LONG, 10);
    Session session =
        SampleSession.of(
            SessionId.random(),
            "u",
            null,
            ProtocolVersion.V2025_03_26,
            "",
            Instant.EPOCH,
            "",
            Principal.ANONYMOUS);

    store.create(session);

    assertThat(store.find(session.id())).contains(session);
  }

  @Test
  default void shouldNotFindAnUnknownSession() {
    assertThat(create(LONG, 10).find(SessionId.random())).isEmpty();
  }

  @Test
  default void shouldIgnoreATouchOfAnUnknownSession() {
    SessionStore store = create(LONG, 10);
    SessionId unknown = SessionId.random();

    var _ = store.touch(Map.of(unknown, NOTHING));
    store.recordActivity(Map.of(unknown, NOTHING));

    assertThat(store.find(unknown)).isEmpty();
    assertThat(store.count()).isZero();
  }

  @Test
  default void shouldKnowWhenASessionWasLastUsed() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    Instant used = session.created().plusSeconds(100);

    var _ = store.touch(Map.of(session.id(), SessionActivity.none(used)));
    another().recordActivity(Map.of(session.id(), SessionActivity.none(used.minusSeconds(1))));

    assertThat(another().lastUsed(session.id())).hasValue(used);
    assertThat(store.lastUsed(SessionId.random())).isEmpty();
  }

  @Test
  default void shouldKeepTheUpstreamStateOfASession() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);

    store.saveUpstreamState(session.id(), "a", new byte[] {0, -1});
    another().saveUpstreamState(session.id(), "b", new byte[] {2});
    var _ = store.touch(Map.of(session.id(), SessionActivity.none(Instant.EPOCH)));
    store.saveUpstreamState(session.id(), "a", new byte[] {0, -2});

    assertThat(another().upstreamState(session.id(), "a")).hasValue(new byte[] {0, -2});
    assertThat(store.upstreamState(session.id(), "b")).hasValue(new byte[] {2});
    assertThat(store.upstreamState(session.id(), "c")).isEmpty();
  }

  @Test
  default void shouldReplaceOnlyTheExpectedUpstreamState() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    SessionId id = session.id();
    byte[] first = {0, -1};
    byte[] second = {};

    assertThat(store.replaceUpstreamState(id, "a", first, second)).isFalse();
    assertThat(store.replaceUpstreamState(id, "a", null, first)).isTrue();
    assertThat(another().replaceUpstreamState(id, "a", null, second)).isFalse();
    assertThat(another().replaceUpstreamState(id, "a", first.clone(), second)).isTrue();
    assertThat(store.replaceUpstreamState(id, "a", first, null)).isFalse();
    assertThat(store.upstreamState(id, "a")).hasValue(second);
    assertThat(store.replaceUpstreamState(id, "a", second.clone(), null)).isTrue();
    assertThat(another().upstreamState(id, "a")).isEmpty();
    assertThat(store.replaceUpstreamState(SessionId.random(), "a", null, first)).isFalse();
  }

  @Test
  default void shouldDeleteTheUpstreamStateOfAnEndedSession() {
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
  default void shouldEndASessionOnce() {
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
  default void shouldCompleteInitializationOnce() {
    SessionStore store = create(LONG, 10);
    Session opening = opening();
    store.create(opening);
    Session initialized =
        opening.initialized(
            "up-1", ProtocolVersion.V2025_06_18, "client/1", opening.created(), HEADERS);

    assertThat(store.find(opening.id())).contains(opening);
    assertThat(another().completeInitialization(initialized)).isTrue();
    assertThat(
            store.completeInitialization(
                opening.initialized(
                    "up-2", ProtocolVersion.V2025_06_18, "client/2", opening.created(), HEADERS)))
        .isFalse();

    assertThat(store.find(opening.id())).contains(initialized);
    assertThat(store.completeInitialization(opening())).isFalse();
  }
}

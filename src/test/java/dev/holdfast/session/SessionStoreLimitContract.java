package dev.holdfast.session;

import static dev.holdfast.session.SessionStoreFixture.openedBy;
import static dev.holdfast.session.SessionStoreFixture.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Limits of all sessions, and of the sessions of one upstream. */
interface SessionStoreLimitContract extends SessionStoreFixture {

  @Test
  default void shouldLimitTheSessionsOfEachUpstream() {
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

  /** One address once took all places. */
  @Test
  default void shouldLimitTheSessionsOfEachOpener() {
    SessionStore store = create(LONG, 10);
    Session first = openedBy("192.0.2.1", "default");
    store.create(first);
    store.create(openedBy("192.0.2.1", "default"));

    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> another().create(openedBy("192.0.2.1", "default")));
    store.create(openedBy("192.0.2.2", "default"));

    assertThat(store.count()).isEqualTo(3);
    another().end(first.id());
    store.create(openedBy("192.0.2.1", "default"));
  }

  @Test
  default void shouldNotCountARefusedSessionForItsOpener() {
    SessionStore store = create(LONG, 10);
    store.create(openedBy("192.0.2.1", NARROW));
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(openedBy("192.0.2.1", NARROW)));

    await()
        .untilAsserted(() ->
            assertThatCode(() -> store.create(openedBy("192.0.2.1", "default")))
                .doesNotThrowAnyException());
  }

  /** Otherwise a client that uses its sessions could open more and more. */
  @Test
  default void shouldCountUsedSessionsOfAnOpener() {
    SessionStore store = create(Duration.ofSeconds(2), 10);
    List<Session> used =
        List.of(openedBy("192.0.2.1", "default"), openedBy("192.0.2.1", "default"));
    Session unused = session();
    used.forEach(store::create);
    store.create(unused);

    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          pass(Duration.ofMillis(500));
          used.forEach(each -> another().touch(Map.of(each.id(), NOTHING)));
          return store.find(unused.id()).isEmpty();
        });

    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> store.create(openedBy("192.0.2.1", "default")));
  }

  @Test
  default void shouldFreeTheLimitOfAnOpenerWhenItsSessionsExpire() {
    SessionStore store = create(SHORT, 10);
    store.create(openedBy("192.0.2.1", "default"));
    store.create(openedBy("192.0.2.1", "default"));

    pass(SHORT);

    await()
        .untilAsserted(() ->
            assertThatCode(() -> store.create(openedBy("192.0.2.1", "default")))
                .doesNotThrowAnyException());
  }

  @Test
  default void shouldNotCountARefusedSessionForItsUpstream() {
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
  default void shouldFreeTheUpstreamLimitWhenASessionExpires() {
    SessionStore store = create(SHORT, 10);
    store.create(session(NARROW));

    pass(SHORT);

    await()
        .untilAsserted(() -> {
          List<Session> _ = store.endExpired(10);
          assertThatCode(() -> store.create(session(NARROW))).doesNotThrowAnyException();
        });
  }

  /** The next sweep may be minutes away, and opening sessions costs a client nothing. */
  @Test
  default void shouldFreeTheLimitBeforeTheExpiredSessionIsSwept() {
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
  default void shouldRefuseSessionsOverTheLimitUntilOneEnds() {
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
}

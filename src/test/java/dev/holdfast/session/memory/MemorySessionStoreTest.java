package dev.holdfast.session.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreContract;
import dev.holdfast.session.TooManySessionsException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MemorySessionStoreTest extends SessionStoreContract {

  private Instant now = Instant.EPOCH;

  @SuppressWarnings("NullAway.Init")
  private SessionStore store;

  @Override
  public SessionStore create(Duration idleTimeout, int limit) {
    store = new MemorySessionStore(idleTimeout, () -> limits(limit), () -> now);
    return store;
  }

  /** A store in memory has one view only. */
  @Override
  public SessionStore another() {
    return store;
  }

  @Override
  public void pass(Duration time) {
    now = now.plus(time);
  }

  @Test
  void shouldCountAnExpiredSessionOnce() {
    SessionStore sessions = create(Duration.ofHours(1), 2);
    List<Session> expired = List.of(opened(), opened());
    expired.forEach(sessions::create);
    pass(Session.OPENING_TIMEOUT);
    sessions.create(opened());

    assertThat(sessions.end(expired.getFirst().id())).isTrue();
    assertThat(sessions.endExpired(10)).containsExactly(expired.getLast());

    assertThat(sessions.count()).isEqualTo(1);
    sessions.create(opened());
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> sessions.create(opened()));
    assertThat(sessions.count()).isEqualTo(2);
  }

  /** Sessions that were opened before a limit count against it, and are no longer counted after. */
  @Test
  void shouldFollowAChangeOfItsLimits() {
    AtomicReference<SessionLimits> limits =
        new AtomicReference<>(new SessionLimits(2, 10, Map.of()));
    SessionStore sessions = new MemorySessionStore(Duration.ofHours(1), limits::get, () -> now);
    Session first = opened();
    sessions.create(first);
    String upstream = first.upstream();

    limits.set(new SessionLimits(2, 10, Map.of(upstream, 1)));
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> sessions.create(opened()));
    assertThat(sessions.end(first.id())).isTrue();
    sessions.create(opened());
    limits.set(new SessionLimits(3, 10, Map.of()));
    sessions.create(opened());
    sessions.create(opened());
    assertThatExceptionOfType(TooManySessionsException.class)
        .isThrownBy(() -> sessions.create(opened()));
  }

  /** Before, sessions that nobody used kept clients out for a minute. */
  @Test
  void shouldFreePlacesOfUnusedSessionsSoonWhenFewAreLeft() {
    SessionStore sessions = create(Duration.ofHours(1), 4);
    List<Session> opened =
        Stream.of("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
            .map(opener ->
                Session.opening(
                    SessionId.random(), "u", Instant.EPOCH, opener, Principal.ANONYMOUS, ""))
            .toList();
    opened.forEach(sessions::create);

    pass(Session.CROWDED_OPENING_TIMEOUT);

    sessions.create(opened());
    assertThat(sessions.endExpired(10)).containsExactly(opened.getLast());
  }

  private static Session opened() {
    return Session.opening(
        SessionId.random(), "u", Instant.EPOCH, "192.0.2.1", Principal.ANONYMOUS, "");
  }
}

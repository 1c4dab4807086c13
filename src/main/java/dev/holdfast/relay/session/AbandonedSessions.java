package dev.holdfast.relay.session;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The sessions of this replica that {@linkplain dev.holdfast.upstream.Upstream#isScarce take one of
 * few places} and that no client uses: no client is connected on any replica, and no request is
 * open. A client that has resumed a stream is known to come back, so its session is not abandoned.
 * Thread-safe.
 *
 * <p>A connected client uses its session at least every {@link #MAX_SILENCE}, as the store records.
 */
final class AbandonedSessions {

  /** A session that is used less often makes room for others, if there is no other room. */
  static final Duration MAX_SILENCE = Duration.ofSeconds(30);

  /** Tails note every ten seconds that a session is in use. With this they stay far below that. */
  static final Duration TOUCH_INTERVAL = Duration.ofSeconds(10);

  /** Clients that are refused must not cause more reads of the store than this. */
  private static final Duration SEARCH_INTERVAL = Duration.ofSeconds(1);

  private static final String RESUMED = "resumed";

  private final SessionStore store;
  private final SessionUpstreams upstreams;
  private final Pumps pumps;
  private final InstantSource clock;
  private final Consumer<Session> inUse;
  private final Predicate<Session> end;

  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private List<Unused> found = List.of();
  private long searched = System.nanoTime() - SEARCH_INTERVAL.toNanos();

  private record Unused(Session session, Instant since) {}

  /**
   * Creates a search.
   *
   * @param inUse receives each session with an open request
   * @param end ends a session; returns whether this call ended it
   */
  AbandonedSessions(
      SessionStore store,
      SessionUpstreams upstreams,
      Pumps pumps,
      InstantSource clock,
      Consumer<Session> inUse,
      Predicate<Session> end) {
    this.store = store;
    this.upstreams = upstreams;
    this.pumps = pumps;
    this.clock = clock;
    this.inUse = inUse;
    this.end = end;
  }

  /** Records that the client of a session comes back when it loses a connection. */
  void resumed(Session session) {
    if (upstreams.isScarce(session)) {
      store.saveUpstreamState(session.id(), RESUMED, new byte[] {1});
    }
  }

  /** Ends the sessions that have been abandoned for that time. */
  void endAfter(Duration timeout) {
    search().stream()
        .filter(unused -> age(unused).compareTo(timeout) >= 0)
        .map(Unused::session)
        .forEach(session -> {
          boolean _ = end.test(session);
        });
  }

  /**
   * Ends the session at an upstream that has been abandoned the longest, but not one in use a
   * moment ago.
   *
   * @param which the sessions whose end makes room
   * @return how long the caller must wait before it tries again; zero if a session was ended
   */
  Duration makeRoom(Predicate<Session> which) {
    try (var _ = lock.hold()) {
      if (System.nanoTime() - searched >= SEARCH_INTERVAL.toNanos()) {
        found = search();
        searched = System.nanoTime();
      }
      Optional<Unused> longest =
          found.stream()
              .filter(unused -> which.test(unused.session()))
              .min(Comparator.comparing(Unused::since));
      if (longest.isEmpty()) {
        return MAX_SILENCE;
      }
      Unused session = longest.get();
      Duration left = MAX_SILENCE.minus(age(session));
      if (left.isPositive()) {
        return left;
      }
      found = found.stream().filter(unused -> !unused.equals(session)).toList();
      // It may have been used since the search.
      boolean unchanged = unused(session.session()).filter(session::equals).isPresent();
      if (!unchanged || !end.test(session.session())) {
        return SEARCH_INTERVAL;
      }
      return Duration.ZERO;
    }
  }

  private List<Unused> search() {
    return pumps.sessions().stream()
        .flatMap(id -> SessionId.parse(id).flatMap(store::find).stream())
        .filter(upstreams::isScarce)
        .flatMap(session -> unused(session).stream())
        .toList();
  }

  private Optional<Unused> unused(Session session) {
    if (pumps.areAnswering(session.id().value())) {
      inUse.accept(session);
      return Optional.empty();
    }
    return store.upstreamState(session.id(), RESUMED).isPresent()
        ? Optional.empty()
        : store.lastUsed(session.id()).map(since -> new Unused(session, since));
  }

  private Duration age(Unused unused) {
    return Duration.between(unused.since(), clock.instant());
  }
}

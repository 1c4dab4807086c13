package dev.holdfast.relay.session;

import dev.holdfast.call.SessionId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that this replica used recently, with the activity that the store does not know yet.
 * It saves a round trip to the store per request. Thread-safe.
 */
final class RecentSessions {

  private final SessionStore store;
  private final Function<Session, Duration> touchEvery;
  private final InstantSource clock;
  private final Map<SessionId, Use> uses = new ConcurrentHashMap<>();

  /** Creates a cache that tells the store at that interval that a session is in use. */
  RecentSessions(SessionStore store, Function<Session, Duration> touchEvery, InstantSource clock) {
    this.store = store;
    this.touchEvery = touchEvery;
    this.clock = clock;
  }

  /** Nano time at which to tell the store again, and the activity since it was told. */
  private record Use(Session session, long due, SessionActivity unsaved) {
    Use plus(SessionActivity more) {
      return new Use(session, due, unsaved.plus(more));
    }
  }

  /** Adds a new session. Its first use goes to the store at once, with the client's address. */
  void began(Session session) {
    uses.put(session.id(), new Use(session, System.nanoTime() - 1, noActivity()));
  }

  /** A session that was used recently; null when it was not. */
  @Nullable Session find(SessionId id) {
    Use use = uses.get(id);
    return use == null || isStale(use) ? null : use.session();
  }

  void forget(Session session) {
    uses.remove(session.id());
  }

  /**
   * Notes that a session is in use, and tells the store once per interval. A copy that is not
   * initialized is read again, because the session may be initialized by now.
   */
  void used(Session session) {
    if (find(session.id()) != null) {
      return;
    }
    if (session.isInitialized()) {
      touch(session);
    } else {
      store.find(session.id()).filter(Session::isInitialized).ifPresent(this::touch);
    }
  }

  private void touch(Session session) {
    long due = System.nanoTime() + touchEvery.apply(session).toNanos();
    Use before = uses.put(session.id(), new Use(session, due, noActivity()));
    SessionActivity unsaved = before == null ? noActivity() : before.unsaved();
    try {
      store.touch(session.id(), unsaved.plus(noActivity()));
    } catch (Throwable failure) {
      add(session, unsaved);
      throw failure;
    }
  }

  /** Counts a request of a session. The store gets the count with the next use. */
  void count(Session session, String address, boolean failed) {
    add(session, SessionActivity.request(clock.instant(), address, failed));
  }

  private void add(Session session, SessionActivity more) {
    uses.computeIfPresent(session.id(), (_, each) -> each.plus(more));
  }

  /** Saves all activity in the store, and removes sessions that were not used recently. */
  void flush() {
    uses.values().forEach(this::flush);
  }

  private void flush(Use use) {
    SessionId id = use.session().id();
    Use saved = new Use(use.session(), use.due(), noActivity());
    // When activity is added meanwhile, the replacement fails and the next flush saves all of it.
    boolean unchanged = isStale(use) ? uses.remove(id, use) : uses.replace(id, use, saved);
    if (unchanged && !use.unsaved().isEmpty()) {
      store.recordActivity(id, use.unsaved());
    }
  }

  private SessionActivity noActivity() {
    return SessionActivity.none(clock.instant());
  }

  private boolean isStale(Use use) {
    return System.nanoTime() - use.due() > 0;
  }
}

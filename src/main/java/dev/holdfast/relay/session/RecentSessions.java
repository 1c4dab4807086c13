package dev.holdfast.relay.session;

import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that were used here of late, and what they did that their store has not heard of.
 * Thread-safe.
 */
final class RecentSessions {

  private final SessionStore store;
  private final Duration touchEvery;
  private final Supplier<Instant> now;
  private final Map<SessionId, Use> uses = new ConcurrentHashMap<>();

  /**
   * Begins with none.
   *
   * @param touchEvery how often the store hears of a session that is in use
   */
  RecentSessions(SessionStore store, Duration touchEvery, Supplier<Instant> now) {
    this.store = store;
    this.touchEvery = touchEvery;
    this.now = now;
  }

  /**
   * The use of a session here.
   *
   * @param touched when the store last heard of it, by {@link System#nanoTime()}
   * @param untold what it has not heard of
   */
  private record Use(Session session, long touched, SessionActivity untold) {
    Use plus(SessionActivity more) {
      return new Use(session, touched, untold.plus(more));
    }
  }

  /** A session has begun. Its first use is written at once, and from where it came. */
  void began(Session session) {
    long longAgo = System.nanoTime() - touchEvery.toNanos() - 1;
    uses.put(session.id(), new Use(session, longAgo, nothingYet()));
  }

  /** A session that was used a moment ago; null when it was not. */
  @Nullable Session find(SessionId id) {
    Use use = uses.get(id);
    return use == null || isStale(use) ? null : use.session();
  }

  void forget(Session session) {
    uses.remove(session.id());
  }

  /**
   * Notes that a session is in use; the store hears of it only now and then. One that was found
   * before it was initialized may be by now, and is of use only then.
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
    Use before = uses.put(session.id(), new Use(session, System.nanoTime(), nothingYet()));
    SessionActivity since = before == null ? nothingYet() : before.untold();
    boolean told = false;
    try {
      store.touch(session.id(), since.plus(nothingYet()));
      told = true;
    } finally {
      if (!told) {
        add(session, since);
      }
    }
  }

  /** Counts a request of a session; the store hears of it with the next use. */
  void count(Session session, String address, boolean failed) {
    add(session, SessionActivity.request(now.get(), address, failed));
  }

  private void add(Session session, SessionActivity more) {
    uses.computeIfPresent(session.id(), (_, each) -> each.plus(more));
  }

  /** Tells the store what it has not heard yet, and forgets what was not used of late. */
  void settle() {
    uses.values().forEach(this::settle);
  }

  private void settle(Use use) {
    SessionId id = use.session().id();
    Use told = new Use(use.session(), use.touched(), nothingYet());
    // What is counted meanwhile is left for the next time: the replacement fails then.
    boolean settled = isStale(use) ? uses.remove(id, use) : uses.replace(id, use, told);
    if (settled && !use.untold().isEmpty()) {
      store.recordActivity(id, use.untold());
    }
  }

  private SessionActivity nothingYet() {
    return SessionActivity.none(now.get());
  }

  private boolean isStale(Use use) {
    return System.nanoTime() - use.touched() > touchEvery.toNanos();
  }
}

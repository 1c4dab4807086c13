package dev.holdfast.relay.session;

import dev.holdfast.call.SessionId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that this replica used recently, with the activity that the store does not know yet.
 * The cache saves a round trip to the store per request. If there are too many sessions, only those
 * stay that are in use right now. Thread-safe.
 */
final class RecentSessions {

  /** Time without a request after which a session makes room for others. */
  static final Duration BRIEF = Duration.ofSeconds(10);

  private final SessionStore store;
  private final Function<Session, Intervals> intervals;
  private final long most;
  private final InstantSource clock;
  private final Map<SessionId, Use> uses = new ConcurrentHashMap<>();

  /** The sessions in use at the last {@link #keep}. */
  private volatile Set<SessionId> kept = Set.of();

  /**
   * Times after which the store hears again that a session is in use.
   *
   * @param requested for a session with requests
   * @param connected for one whose client only waits; not shorter
   */
  record Intervals(Duration requested, Duration connected) {}

  /**
   * Creates a cache that tells the store at those intervals that a session is in use.
   *
   * @param most sessions without a connected client or an open request from which on {@link #keep}
   *     removes those without a request for {@link #BRIEF}
   */
  RecentSessions(
      SessionStore store, Function<Session, Intervals> intervals, long most, InstantSource clock) {
    this.store = store;
    this.intervals = intervals;
    this.most = most;
    this.clock = clock;
  }

  /** Time when the store was told, in ms since the epoch, and the activity since then. */
  private record Use(Session session, long told, SessionActivity unsaved) {
    Use plus(SessionActivity more) {
      return new Use(session, told, unsaved.plus(more));
    }
  }

  /** Adds a new session. Its first use goes to the store at once, with the client's address. */
  void began(Session session) {
    uses.put(session.id(), new Use(session, 0, noActivity()));
  }

  /** A session that was used recently; null when it was not. */
  @Nullable Session find(SessionId id) {
    Use use = uses.get(id);
    return use == null || isStale(use) ? null : use.session();
  }

  /** The record of a session in memory, however old; null if there is none. It may have ended. */
  @Nullable Session known(SessionId id) {
    Use use = uses.get(id);
    return use == null ? null : use.session();
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
      tell(Map.of(session.id(), session));
    } else {
      store
          .find(session.id())
          .filter(Session::isInitialized)
          .ifPresent(known -> tell(Map.of(known.id(), known)));
    }
  }

  /**
   * Notes which sessions are in use without requests. Tells the store of those of which it has not
   * heard for long, and of those that are no longer in use.
   */
  void keep(Set<SessionId> inUse) {
    Map<SessionId, Session> due = new HashMap<>();
    for (SessionId id : inUse) {
      Use use = uses.get(id);
      if (use != null && isOlder(use, intervals.apply(use.session()).connected())) {
        due.put(id, use.session());
      }
    }
    for (SessionId id : kept) {
      Use use = inUse.contains(id) ? null : uses.get(id);
      if (use != null && isStale(use)) {
        due.put(id, use.session());
      }
    }
    kept = inUse;
    tell(due);
    if (uses.size() - inUse.size() > most) {
      makeRoom();
    }
  }

  private void tell(Map<SessionId, Session> sessions) {
    Map<SessionId, SessionActivity> since = new HashMap<>();
    Map<SessionId, Use> before = new HashMap<>();
    sessions.forEach((id, session) -> {
      Use use = uses.put(id, new Use(session, clock.millis(), noActivity()));
      if (use != null) {
        before.put(id, use);
      }
      since.put(id, (use == null ? noActivity() : use.unsaved()).plus(noActivity()));
    });
    if (since.isEmpty()) {
      return;
    }
    Set<SessionId> missed = since.keySet();
    try {
      missed = store.touch(since);
    } finally {
      before.keySet().retainAll(missed);
      before.forEach((id, use) ->
          uses.computeIfPresent(
              id,
              (_, now) -> new Use(now.session(), use.told(), use.unsaved().plus(now.unsaved()))));
    }
  }

  /** Counts a request of a session. The store gets the count with the next use. */
  void count(Session session, String address, boolean failed) {
    SessionActivity more = SessionActivity.request(clock.instant(), address, failed);
    uses.computeIfPresent(session.id(), (_, each) -> each.plus(more));
  }

  /** Saves all activity in the store, and removes sessions that were not used recently. */
  void flush() {
    Map<SessionId, SessionActivity> unsaved = new HashMap<>();
    uses.values().forEach(use -> flush(use, isStale(use) && !isKept(use), unsaved));
    save(unsaved);
  }

  private void save(Map<SessionId, SessionActivity> unsaved) {
    if (!unsaved.isEmpty()) {
      store.recordActivity(unsaved);
    }
  }

  /** Saves and removes sessions that are not in use right now. */
  private void makeRoom() {
    Instant before = clock.instant().minus(BRIEF);
    Map<SessionId, SessionActivity> unsaved = new HashMap<>();
    for (Use use : uses.values()) {
      if (use.unsaved().lastUsed().isBefore(before) && !isKept(use)) {
        flush(use, true, unsaved);
      }
    }
    save(unsaved);
  }

  private boolean isKept(Use use) {
    return kept.contains(use.session().id());
  }

  private void flush(Use use, boolean removes, Map<SessionId, SessionActivity> unsaved) {
    SessionId id = use.session().id();
    Use saved = new Use(use.session(), use.told(), noActivity());
    // When activity is added meanwhile, the replacement fails and the next flush saves all of it.
    boolean unchanged = removes ? uses.remove(id, use) : uses.replace(id, use, saved);
    if (unchanged && !use.unsaved().isEmpty()) {
      unsaved.put(id, use.unsaved());
    }
  }

  private SessionActivity noActivity() {
    return SessionActivity.none(clock.instant());
  }

  private boolean isStale(Use use) {
    return isOlder(use, intervals.apply(use.session()).requested());
  }

  /** Returns true also if the clock was set back. */
  private boolean isOlder(Use use, Duration age) {
    long now = clock.millis();
    return now < use.told() || (now - use.told() > age.toMillis());
  }
}

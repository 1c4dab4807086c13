package dev.holdfast.session.memory;

import dev.holdfast.call.SessionId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.TooManySessionsException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Sessions in the memory of this process. */
public final class MemorySessionStore implements SessionStore {

  private static final Duration RECLAIM_INTERVAL = Duration.ofMillis(100);

  /** Sorted, so that a page can start after the last session of the previous one. */
  private final ConcurrentNavigableMap<SessionId, Entry> entries =
      new ConcurrentSkipListMap<>(Comparator.comparing(SessionId::value));

  private final AtomicInteger size = new AtomicInteger();

  /** Number of sessions that count against each limit; expired ones may no longer count. */
  private final Map<Place, Integer> occupied = new ConcurrentHashMap<>();

  /** Time of the last search of {@link #reclaimPlaces}. */
  private final AtomicReference<Instant> lastReclaim = new AtomicReference<>(Instant.MIN);

  private final Duration idleTimeout;
  private final Supplier<SessionLimits> limits;
  private final InstantSource clock;

  /**
   * Creates an empty store.
   *
   * @param idleTimeout time after which an unused session expires
   * @param limits maximum numbers of sessions; may change
   * @param clock measures idle time
   */
  public MemorySessionStore(
      Duration idleTimeout, Supplier<SessionLimits> limits, InstantSource clock) {
    this.idleTimeout = idleTimeout;
    this.limits = limits;
    this.clock = clock;
  }

  @Override
  public void create(Session session) {
    boolean crowded;
    try {
      crowded = occupyPlace(session);
    } catch (TooManySessionsException full) {
      if (!reclaimPlaces()) {
        throw full;
      }
      crowded = occupyPlace(session);
    }
    Instant now = clock.instant();
    size.incrementAndGet();
    Duration timeout = Session.openingTimeout(idleTimeout, crowded);
    entries.put(
        session.id(), new Entry(session, now, timeout, SessionActivity.none(now), Map.of(), true));
  }

  /** Returns whether few places are left of those for one of the limits. */
  private boolean occupyPlace(Session session) {
    boolean crowded = false;
    List<Place> taken = new ArrayList<>();
    for (Limit limit : limits(session)) {
      taken.add(limit.place());
      int count = occupied.merge(limit.place(), 1, Integer::sum);
      if (count > limit.most()) {
        taken.forEach(this::freePlace);
        throw new TooManySessionsException(limit.most());
      }
      crowded |= SessionLimits.isCrowded(count - 1, limit.most());
    }
    return crowded;
  }

  private void freePlace(Session session) {
    limits(session).forEach(limit -> freePlace(limit.place()));
  }

  private void freePlace(Place place) {
    occupied.computeIfPresent(place, (_, count) -> count == 1 ? null : count - 1);
  }

  private List<Limit> limits(Session session) {
    SessionLimits most = limits.get();
    int ofUpstream = most.of(session.upstream()).orElse(Integer.MAX_VALUE);
    return List.of(
        new Limit(new Place("opener", session.opener()), most.perOpener()),
        new Limit(new Place("upstream", session.upstream()), ofUpstream),
        new Limit(new Place("all", ""), most.all()));
  }

  /**
   * Frees the places of expired sessions that were not ended yet. Searches all sessions, so it runs
   * at most once per interval.
   *
   * @return whether a place may be free now
   */
  private boolean reclaimPlaces() {
    Instant now = clock.instant();
    Instant before = lastReclaim.get();
    boolean due = before.isAfter(now) || before.plus(RECLAIM_INTERVAL).isBefore(now);
    if (!due || !lastReclaim.compareAndSet(before, now)) {
      return false;
    }
    for (Entry entry : entries.values()) {
      if (entry.hasPlace()
          && !isAlive(entry)
          && entries.replace(entry.session().id(), entry, entry.withoutPlace())) {
        freePlace(entry.session());
      }
    }
    return true;
  }

  @Override
  public boolean completeInitialization(Session session) {
    Instant now = clock.instant();
    boolean[] done = new boolean[1];
    change(
        session.id(),
        entry -> {
          done[0] = !entry.session().isInitialized();
          return done[0] ? entry.withSession(session, now, idleTimeout) : entry;
        });
    return done[0];
  }

  @Override
  public Optional<Session> find(SessionId id) {
    return Optional.ofNullable(entries.get(id)).filter(this::isAlive).map(Entry::session);
  }

  @Override
  public Set<SessionId> touch(Map<SessionId, SessionActivity> since) {
    Instant now = clock.instant();
    since.forEach((id, activity) ->
        change(
            id,
            entry ->
                entry.session().isInitialized()
                    ? entry.withActivity(now, idleTimeout, activity)
                    : entry.withActivity(entry.lastUsed(), entry.timeout(), activity)));
    return Set.of();
  }

  @Override
  public void recordActivity(Map<SessionId, SessionActivity> since) {
    since.forEach((id, activity) ->
        change(id, entry -> entry.withActivity(entry.lastUsed(), entry.timeout(), activity)));
  }

  @Override
  public Optional<Instant> lastUsed(SessionId id) {
    return Optional.ofNullable(entries.get(id))
        .filter(this::isAlive)
        .map(entry -> entry.activity().lastUsed());
  }

  @Override
  public void saveUpstreamState(SessionId id, String name, byte[] value) {
    change(id, entry -> entry.withUpstreamState(name, value));
  }

  @Override
  public Optional<byte[]> upstreamState(SessionId id, String name) {
    return Optional.ofNullable(entries.get(id))
        .filter(this::isAlive)
        .flatMap(entry -> Optional.ofNullable(entry.upstreamState().get(name)));
  }

  @Override
  public boolean replaceUpstreamState(
      SessionId id, String name, byte @Nullable [] expected, byte @Nullable [] value) {
    boolean[] replaced = new boolean[1];
    change(
        id,
        entry -> {
          replaced[0] = Arrays.equals(entry.upstreamState().get(name), expected);
          return replaced[0] ? entry.withUpstreamState(name, value) : entry;
        });
    return replaced[0];
  }

  private void change(SessionId id, UnaryOperator<Entry> change) {
    entries.computeIfPresent(id, (_, entry) -> isAlive(entry) ? change.apply(entry) : entry);
  }

  @Override
  public boolean end(SessionId id) {
    Entry ended = entries.remove(id);
    if (ended != null) {
      removed(ended);
    }
    return ended != null;
  }

  @Override
  public List<Session> endExpired(int most) {
    List<Entry> expired =
        entries.values().stream().filter(entry -> !isAlive(entry)).limit(most).toList();
    List<Session> ended = new ArrayList<>();
    for (Entry entry : expired) {
      // Conditional: only one caller ends a session, and only if it is still expired.
      if (entries.remove(entry.session().id(), entry)) {
        removed(entry);
        ended.add(entry.session());
      }
    }
    return ended;
  }

  private void removed(Entry entry) {
    size.decrementAndGet();
    if (entry.hasPlace()) {
      freePlace(entry.session());
    }
  }

  @Override
  public long count() {
    return size.get();
  }

  @Override
  public Page list(@Nullable String from, int about) {
    SessionStore.requirePageSize(about);
    Collection<Entry> rest = (from == null ? entries : entries.tailMap(idOf(from), false)).values();
    List<Entry> some = rest.stream().limit(about).toList();
    return new Page(
        some.stream()
            .filter(this::isAlive)
            .map(entry -> new Page.Entry(entry.session(), entry.activity()))
            .toList(),
        some.size() < about
            ? Optional.empty()
            : Optional.of(some.getLast().session().id().value()));
  }

  /** Looks at all sessions, which is quick in memory. */
  @Override
  public List<Page.Entry> latest(int skip, int most) {
    SessionStore.requirePageSize(most);
    return entries.values().stream()
        .filter(this::isAlive)
        .sorted(Comparator.comparing(Entry::expires).reversed())
        .skip(skip)
        .limit(most)
        .map(entry -> new Page.Entry(entry.session(), entry.activity()))
        .toList();
  }

  private static SessionId idOf(String from) {
    return SessionId.parse(from).orElseThrow(() -> new IllegalArgumentException("no such page"));
  }

  private boolean isAlive(Entry entry) {
    return entry.expires().isAfter(clock.instant());
  }

  /** A limit on the sessions of an opener or an upstream, or on all. */
  private record Limit(Place place, int most) {}

  /** Place that counts against a limit. */
  private record Place(String kind, String name) {}

  /**
   * A session.
   *
   * @param lastUsed start of the timeout
   * @param timeout time after which the session expires
   * @param hasPlace whether the session counts against the limits
   */
  private record Entry(
      Session session,
      Instant lastUsed,
      Duration timeout,
      SessionActivity activity,
      Map<String, byte[]> upstreamState,
      boolean hasPlace) {

    Instant expires() {
      return lastUsed.plus(timeout);
    }

    Entry withSession(Session complete, Instant now, Duration idle) {
      return new Entry(complete, now, idle, activity, upstreamState, hasPlace);
    }

    Entry withActivity(Instant last, Duration idle, SessionActivity since) {
      return new Entry(session, last, idle, activity.plus(since), upstreamState, hasPlace);
    }

    Entry withUpstreamState(String name, byte @Nullable [] value) {
      Map<String, byte[]> more = new HashMap<>(upstreamState);
      if (value == null) {
        more.remove(name);
      } else {
        more.put(name, value);
      }
      return new Entry(session, lastUsed, timeout, activity, Map.copyOf(more), hasPlace);
    }

    Entry withoutPlace() {
      return new Entry(session, lastUsed, timeout, activity, upstreamState, false);
    }
  }
}

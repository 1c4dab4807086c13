package dev.holdfast.session.memory;

import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.TooManySessionsException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Sessions in the memory of this process; they end with it. */
public final class MemorySessionStore implements SessionStore {

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  /** In an order, so that pages can be told apart. */
  private final ConcurrentNavigableMap<SessionId, Entry> entries =
      new ConcurrentSkipListMap<>(Comparator.comparing(SessionId::value));

  private final AtomicInteger size = new AtomicInteger();

  /** How many have a place, which those that have expired may have lost. */
  private final AtomicInteger places = new AtomicInteger();

  /** Of upstreams that are limited by themselves. */
  private final Map<String, Integer> placesOf = new ConcurrentHashMap<>();

  /** When places were last looked for that could be taken back. */
  private final AtomicReference<Instant> looked = new AtomicReference<>(Instant.MIN);

  private final Duration idleTimeout;
  private final SessionLimits limits;
  private final InstantSource clock;

  /**
   * Starts empty.
   *
   * @param idleTimeout after which an unused session expires
   * @param limits the most sessions at a time
   * @param clock tells when a session was used
   */
  public MemorySessionStore(Duration idleTimeout, SessionLimits limits, InstantSource clock) {
    this.idleTimeout = idleTimeout;
    this.limits = limits;
    this.clock = clock;
  }

  @Override
  public void create(Session session) {
    try {
      takePlace(session.upstream());
    } catch (TooManySessionsException full) {
      if (!takeBackPlaces()) {
        throw full;
      }
      takePlace(session.upstream());
    }
    Instant now = clock.instant();
    size.incrementAndGet();
    entries.put(session.id(), new Entry(session, now, SessionActivity.none(now), Map.of(), true));
  }

  private void takePlace(String upstream) {
    limits.of(upstream).ifPresent(most -> ofUpstream(upstream, 1, most));
    if (places.incrementAndGet() > limits.all()) {
      givePlace(upstream);
      throw new TooManySessionsException(limits.all());
    }
  }

  private void givePlace(String upstream) {
    places.decrementAndGet();
    limits.of(upstream).ifPresent(most -> ofUpstream(upstream, -1, most));
  }

  private void ofUpstream(String upstream, int more, int most) {
    placesOf.compute(
        upstream,
        (_, taken) -> {
          int next = (taken == null ? 0 : taken) + more;
          if (next > most) {
            throw new TooManySessionsException(most);
          }
          return next;
        });
  }

  /**
   * Takes the places of sessions that have expired, and wait to be taken themselves. That goes
   * through all sessions, so it is not done for everyone who finds no place.
   *
   * @return whether there may be a place now
   */
  private boolean takeBackPlaces() {
    Instant now = clock.instant();
    Instant before = looked.get();
    boolean due = before.isAfter(now) || before.plus(LOOK_EVERY).isBefore(now);
    if (!due || !looked.compareAndSet(before, now)) {
      return false;
    }
    for (Entry entry : entries.values()) {
      if (entry.placed()
          && !lives(entry)
          && entries.replace(entry.session().id(), entry, entry.withoutPlace())) {
        givePlace(entry.session().upstream());
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
          return done[0] ? entry.initialized(session, now) : entry;
        });
    return done[0];
  }

  @Override
  public Optional<Session> find(SessionId id) {
    return Optional.ofNullable(entries.get(id)).filter(this::lives).map(Entry::session);
  }

  @Override
  public void touch(SessionId id, SessionActivity since) {
    Instant now = clock.instant();
    change(
        id, entry -> entry.used(entry.session().isInitialized() ? now : entry.lastUsed(), since));
  }

  @Override
  public void recordActivity(SessionId id, SessionActivity since) {
    change(id, entry -> entry.used(entry.lastUsed(), since));
  }

  @Override
  public void saveUpstreamState(SessionId id, String name, byte[] value) {
    change(id, entry -> entry.keeping(name, value));
  }

  @Override
  public Optional<byte[]> upstreamState(SessionId id, String name) {
    return Optional.ofNullable(entries.get(id))
        .filter(this::lives)
        .flatMap(entry -> Optional.ofNullable(entry.kept().get(name)));
  }

  private void change(SessionId id, UnaryOperator<Entry> change) {
    entries.computeIfPresent(id, (_, entry) -> lives(entry) ? change.apply(entry) : entry);
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
        entries.values().stream().filter(entry -> !lives(entry)).limit(most).toList();
    List<Session> taken = new ArrayList<>();
    for (Entry entry : expired) {
      // Removed as it was seen: a session that another caller took is not given twice.
      if (entries.remove(entry.session().id(), entry)) {
        removed(entry);
        taken.add(entry.session());
      }
    }
    return taken;
  }

  private void removed(Entry entry) {
    size.decrementAndGet();
    if (entry.placed()) {
      givePlace(entry.session().upstream());
    }
  }

  @Override
  public long count() {
    return size.get();
  }

  @Override
  public SessionPage list(@Nullable String from, int about) {
    if (about < 1 || about > MAX_PAGE_SIZE) {
      throw new IllegalArgumentException("a page has room for 1 to " + MAX_PAGE_SIZE);
    }
    Collection<Entry> rest = (from == null ? entries : entries.tailMap(idOf(from), false)).values();
    List<Entry> some = rest.stream().limit(about).toList();
    return new SessionPage(
        some.stream()
            .filter(this::lives)
            .map(entry -> new SessionPage.Entry(entry.session(), entry.activity()))
            .toList(),
        some.size() < about
            ? Optional.empty()
            : Optional.of(some.getLast().session().id().value()));
  }

  private static SessionId idOf(String from) {
    return SessionId.parse(from).orElseThrow(() -> new IllegalArgumentException("no such page"));
  }

  private boolean lives(Entry entry) {
    Duration most =
        entry.session().isInitialized() || idleTimeout.compareTo(OPENING_TIMEOUT) < 0
            ? idleTimeout
            : OPENING_TIMEOUT;
    return entry.lastUsed().plus(most).isAfter(clock.instant());
  }

  /**
   * A session.
   *
   * @param lastUsed starts the idle time-out
   * @param kept what is kept with it, by name
   * @param placed whether it counts against the limits
   */
  private record Entry(
      Session session,
      Instant lastUsed,
      SessionActivity activity,
      Map<String, byte[]> kept,
      boolean placed) {

    Entry initialized(Session complete, Instant now) {
      return new Entry(complete, now, activity, kept, placed);
    }

    Entry used(Instant last, SessionActivity since) {
      return new Entry(session, last, activity.plus(since), kept, placed);
    }

    Entry keeping(String name, byte[] value) {
      Map<String, byte[]> more = new HashMap<>(kept);
      more.put(name, value);
      return new Entry(session, lastUsed, activity, Map.copyOf(more), placed);
    }

    Entry withoutPlace() {
      return new Entry(session, lastUsed, activity, kept, false);
    }
  }
}

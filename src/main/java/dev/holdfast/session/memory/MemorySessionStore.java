package dev.holdfast.session.memory;

import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.TooManySessionsException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Sessions in the memory of this process; they end with it. */
public final class MemorySessionStore implements SessionStore {

  private final Map<SessionId, Entry> entries = new ConcurrentHashMap<>();
  private final AtomicInteger size = new AtomicInteger();
  private final Duration idleTimeout;
  private final int limit;
  private final InstantSource clock;

  /**
   * Starts empty.
   *
   * @param idleTimeout after which an unused session expires
   * @param limit the most sessions at a time
   * @param clock tells when a session was used
   */
  public MemorySessionStore(Duration idleTimeout, int limit, InstantSource clock) {
    this.idleTimeout = idleTimeout;
    this.limit = limit;
    this.clock = clock;
  }

  @Override
  public void create(Session session) {
    if (size.incrementAndGet() > limit) {
      size.decrementAndGet();
      throw new TooManySessionsException(limit);
    }
    entries.put(session.id(), new Entry(session, clock.instant()));
  }

  @Override
  public Optional<Session> find(SessionId id) {
    return Optional.ofNullable(entries.get(id)).filter(this::lives).map(Entry::session);
  }

  @Override
  public void touch(SessionId id) {
    Instant now = clock.instant();
    entries.computeIfPresent(
        id, (key, entry) -> lives(entry) ? new Entry(entry.session(), now) : entry);
  }

  @Override
  public boolean end(SessionId id) {
    boolean ended = entries.remove(id) != null;
    if (ended) {
      size.decrementAndGet();
    }
    return ended;
  }

  @Override
  public List<Session> takeExpired(int most) {
    List<Entry> expired =
        entries.values().stream().filter(entry -> !lives(entry)).limit(most).toList();
    List<Session> taken = new ArrayList<>();
    for (Entry entry : expired) {
      // Removed as it was seen: a session that another caller took is not given twice.
      if (entries.remove(entry.session().id(), entry)) {
        size.decrementAndGet();
        taken.add(entry.session());
      }
    }
    return taken;
  }

  @Override
  public long count() {
    return size.get();
  }

  private boolean lives(Entry entry) {
    return entry.lastUsed().plus(idleTimeout).isAfter(clock.instant());
  }

  private record Entry(Session session, Instant lastUsed) {}
}

package dev.holdfast.relay.session;

import dev.holdfast.call.SessionId;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of this replica that {@linkplain dev.holdfast.upstream.Placement.Pinned#scarce take
 * one of few places} and that no client uses: no client is connected on any replica, and no request
 * is open. A client that has resumed a stream is known to come back, so its session is not
 * abandoned. Thread-safe; no lock is held while the store is read.
 *
 * <p>A connected client uses its session at least every {@link #MAX_SILENCE}, as the store records.
 */
final class AbandonedSessions {

  /** A session that is used less often makes room for others, if there is no other room. */
  static final Duration MAX_SILENCE = Duration.ofSeconds(30);

  /** The store hears so often that a session is in use, and thus far more often. */
  static final Duration TOUCH_INTERVAL = Duration.ofSeconds(10);

  /** Clients that are refused must not cause more reads of the store than this. */
  private static final Duration SEARCH_INTERVAL = Duration.ofSeconds(1);

  private static final String RESUMED = "resumed";

  private final Function<SessionId, Optional<Session>> find;
  private final SessionStore store;
  private final SessionUpstreams upstreams;
  private final Pumps pumps;
  private final InstantSource clock;
  private final Predicate<Session> end;

  /** The latest search for room; null before the first. */
  private final AtomicReference<@Nullable Search> latest = new AtomicReference<>();

  private record Unused(Session session, Instant since) {}

  /** A search whose result several callers share. */
  private static final class Search {
    private final long begun = System.nanoTime();
    private final CompletableFuture<List<Unused>> found = new CompletableFuture<>();

    /** The sessions that a caller ends, or that were in use when it tried. */
    private final Set<SessionId> taken = ConcurrentHashMap.newKeySet();

    private boolean isRecent() {
      return System.nanoTime() - begun < SEARCH_INTERVAL.toNanos();
    }
  }

  /**
   * Creates a search.
   *
   * @param find finds the record of a session; it may have ended
   * @param end ends a session; returns whether this call ended it
   */
  AbandonedSessions(
      Function<SessionId, Optional<Session>> find,
      SessionStore store,
      SessionUpstreams upstreams,
      Pumps pumps,
      InstantSource clock,
      Predicate<Session> end) {
    this.find = find;
    this.store = store;
    this.upstreams = upstreams;
    this.pumps = pumps;
    this.clock = clock;
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
        .forEach(unused -> {
          boolean _ = endIfUnused(unused);
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
    Search search = recentSearch();
    List<Unused> candidates =
        found(search).stream()
            .filter(unused -> which.test(unused.session()))
            .sorted(Comparator.comparing(Unused::since))
            .toList();
    for (Unused longest : candidates) {
      Duration left = MAX_SILENCE.minus(age(longest));
      if (left.isPositive()) {
        return left;
      }
      if (search.taken.add(longest.session().id()) && endIfUnused(longest)) {
        return Duration.ZERO;
      }
    }
    return candidates.isEmpty() ? MAX_SILENCE : SEARCH_INTERVAL;
  }

  /** The latest search, or a new one. Its first caller runs it, and the others wait for it. */
  private Search recentSearch() {
    Search before = latest.get();
    if (before != null && before.isRecent()) {
      return before;
    }
    Search search = new Search();
    if (!latest.compareAndSet(before, search)) {
      return recentSearch();
    }
    try {
      search.found.complete(search());
    } catch (Throwable failure) {
      search.found.completeExceptionally(failure);
    }
    return search;
  }

  private static List<Unused> found(Search search) {
    try {
      return search.found.join();
    } catch (CompletionException failure) {
      throw new SessionStoreException(failure.getCause());
    }
  }

  /** Ends a session, unless it has been used since the search. Returns whether this call did it. */
  private boolean endIfUnused(Unused unused) {
    return unused(unused.session()).filter(unused::equals).isPresent()
        && end.test(unused.session());
  }

  private List<Unused> search() {
    return pumps.sessions().stream()
        .flatMap(key -> SessionId.parse(key.value()).flatMap(find).stream())
        .flatMap(session -> unused(session).stream())
        .toList();
  }

  private Optional<Unused> unused(Session session) {
    return !upstreams.isScarce(session)
            || pumps.areAnswering(StreamNames.key(session.id()))
            || store.upstreamState(session.id(), RESUMED).isPresent()
        ? Optional.empty()
        : store.lastUsed(session.id()).map(since -> new Unused(session, since));
  }

  private Duration age(Unused unused) {
    return Duration.between(unused.since(), clock.instant());
  }
}

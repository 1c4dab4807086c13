package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamIndex.Opening;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryBudget.Kind;
import dev.holdfast.log.memory.MemoryStream.Oldest;
import dev.holdfast.log.memory.MemoryStream.Place;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The streams of one session and their events. Thread-safe. */
class MemorySession {

  /** The most events that go while a thread holds the lock. */
  static final int STEP = 256;

  /** Time in which the reader of a new stream of requests is expected. */
  private static final long READER_EXPECTED_MILLIS = 2000;

  private final Retention retention;
  private final InstantSource clock;
  private final MemoryBudget.Account account;
  private final MemoryBudget budget;

  /** Guards all fields below, and the state of the streams. */
  private final AutoLock lock = new AutoLock();

  /** Changed with the lock only. Steps go through it without, and miss what is added meanwhile. */
  private final Map<String, MemoryStream> streams = new ConcurrentHashMap<>(4);

  private final MemoryPlaces places = new MemoryPlaces();

  private long bytes;
  private long appended;
  private int open;
  private boolean ended;

  /** True if a quota has purged a complete stream. Then an unknown stream may be that one. */
  private boolean hasLostStreams;

  MemorySession(Retention retention, MemoryBudget budget, String client, InstantSource clock) {
    this.retention = retention;
    this.clock = clock;
    this.budget = budget;
    this.account = budget.open(client, this::purge);
  }

  /** Runs an action that needs the lock. */
  <T> T locked(Supplier<T> action) {
    try (var _ = lock.hold()) {
      return action.get();
    }
  }

  /** Runs an action that needs the lock. */
  void run(Runnable action) {
    try (var _ = lock.hold()) {
      action.run();
    }
  }

  /**
   * Opens a new stream.
   *
   * @param sharedStream name of the shared stream that keeps its events; null if it keeps them
   *     itself
   */
  MemoryStream open(StreamRef ref, String requests, String tool, @Nullable String sharedStream) {
    return locked(() -> {
      MemoryStream shared = sharedStream == null ? null : streams.get(sharedStream);
      if (ended || (sharedStream != null && shared == null)) {
        throw new LogException.SessionEnded(ref);
      }
      if (streams.containsKey(ref.name())) {
        throw new LogException.Fenced(ref);
      }
      if (open >= retention.maxStreams()) {
        throw new LogException.TooManyStreams(retention.maxStreams());
      }
      @Nullable Opening opening = requests.isEmpty() ? null : new Opening(clock.instant(), tool);
      MemoryStream stream = new MemoryStream(ref, requests, opening, shared, retention);
      streams.put(ref.name(), stream);
      places.put(stream, Place.ACTIVE);
      open++;
      if (shared == null && !requests.isEmpty()) {
        stream.expectReader(clock.millis() + READER_EXPECTED_MILLIS);
      }
      return stream;
    });
  }

  /** Opens a shared stream, unless it is open already. */
  void openShared(StreamRef ref) {
    run(() -> {
      if (!streams.containsKey(ref.name())) {
        var _ = open(ref, "", "", null);
      }
    });
  }

  /** Appends to a stream of this session, runs an action, and purges what exceeds the quotas. */
  Position append(MemoryStream stream, List<NewEvent> added, Runnable onStored) {
    Stored stored = locked(() -> store(stream, added));
    boolean exceeds = stored.exceeds();
    while (exceeds) {
      exceeds = locked(() -> purgeMore(stream.keeper(), clock.millis()));
    }
    onStored.run();
    budget.purgeOverflow(account);
    return stored.last();
  }

  /** The account of this session in the common budget. */
  MemoryBudget.Account account() {
    return account;
  }

  /** Position of the newest event, and whether a quota may still be exceeded. */
  private record Stored(Position last, boolean exceeds) {}

  private Stored store(MemoryStream stream, List<NewEvent> added) {
    stream.requireOpen();
    long now = clock.millis();
    MemoryStream keeper = stream.keeper();
    long before = keeper.bytes();
    int size = keeper.size();
    for (NewEvent event : added) {
      if (keeper == stream || event.payload().length > 0) {
        boolean isEnd = event.last() && keeper == stream;
        keeper.add(new NewEvent(event.payload(), event.upstreamId(), isEnd), now, appended++);
      }
    }
    count(keeper.size() - size, keeper.bytes() - before);
    keeper.window().wrote(keeper.last(), keeper.bytes() - before);
    boolean exceeds = purge(keeper, now);
    Position last = keeper == stream ? stream.last() : stream.count(added.size());
    if (added.getLast().last()) {
      open--;
      if (keeper == stream) {
        stream.complete(now + retention.eventTtl().toMillis());
      } else {
        discard(stream);
      }
    }
    place(keeper, now);
    return new Stored(last, exceeds);
  }

  /** Puts a stream where {@link #purgeOther} looks for it. */
  private void place(MemoryStream stream, long now) {
    if (stream.isDiscarded()) {
      return;
    }
    places.put(stream, stream.place(now));
    account.offer(Kind.DELIVERED, !places.at(Place.DELIVERED).isEmpty());
    // A stream without events may be the one whose reader has left.
    boolean offers =
        stream.size() == 0 || stream.oldest(now) != Oldest.NOTHING || stream.isExpectingReader();
    if (!ended && bytes > 0 && offers) {
      offerOther(true);
    }
  }

  private void offerOther(boolean offers) {
    account.offer(Kind.OTHER, offers);
    account.offer(Kind.AWAITED, offers);
  }

  /** Purges what exceeds the quotas of a stream and of the session; true if more may be left. */
  private boolean purge(MemoryStream stream, long now) {
    return inStep(() ->
        purgeOwn(stream, now)
            || (bytes > retention.maxSessionBytes()
                && (purgeDelivered() || purgeOther(now, true, true))));
  }

  private boolean purgeMore(MemoryStream stream, long now) {
    boolean exceeds = purge(stream, now);
    place(stream, now);
    return exceeds;
  }

  /** Repeats an action as long as it finds something to do; returns true if it may find more. */
  private static boolean inStep(BooleanSupplier action) {
    int done = 0;
    while (done < STEP && action.getAsBoolean()) {
      done++;
    }
    return done == STEP;
  }

  /**
   * Purges the oldest event of a stream if it is too old, or the stream too large. Never purges
   * what a connected reader does not have, and no result before it expires.
   */
  private boolean purgeOwn(MemoryStream stream, long now) {
    boolean isTooLarge =
        stream.size() > retention.maxEvents()
            || (stream.bytes() > retention.maxStreamBytes() && stream.size() > 1);
    boolean goes =
        (isTooLarge || stream.isOlderThan(now - retention.eventTtl().toMillis()))
            && stream.oldest(now) != Oldest.NOTHING;
    if (goes) {
      purgeFirst(stream);
    }
    return goes;
  }

  private void purgeFirst(MemoryStream stream) {
    long before = stream.bytes();
    stream.purge();
    count(-1, stream.bytes() - before);
  }

  private void count(int moreEvents, long moreBytes) {
    bytes += moreBytes;
    account.add(moreEvents, moreBytes);
  }

  /** Purges for the common budget, as {@link MemoryBudget.Purger} says. */
  private boolean purge(Kind kind, boolean writing) {
    return locked(() ->
        switch (kind) {
          case DELIVERED -> purgeDelivered();
          case OTHER ->
              purgeOther(clock.millis(), writing, !places.hasActive(MemoryStream::hasReader));
          case AWAITED -> purgeOther(clock.millis(), writing, true);
        });
  }

  private boolean purgeDelivered() {
    MemoryStream first = places.first(Place.DELIVERED);
    if (first != null) {
      lose(first);
    }
    return first != null;
  }

  private void lose(MemoryStream complete) {
    discard(complete);
    hasLostStreams = true;
  }

  /**
   * Purges one event: the oldest of an open stream that its client was sent, else the oldest
   * notification that nobody is connected to, else the oldest result that nobody has fetched.
   *
   * @param writing whether the newest event of the session stays
   * @param results whether results may go
   */
  private boolean purgeOther(long now, boolean writing, boolean results) {
    MemoryStream first = nextOther(now, writing);
    if (first == null) {
      if (bytes == 0 || !(writing || places.hasActive(MemoryStream::isExpectingReader))) {
        offerOther(false);
      }
      return false;
    }
    if (!results && first.oldest(now) == Oldest.RESULT) {
      account.offer(Kind.OTHER, false); // Until the client leaves, or writes more.
      return false;
    }
    purgeFirst(first);
    if (!first.isOpen() && first.size() == 0) {
      lose(first);
    } else {
      place(first, now);
    }
    return true;
  }

  private @Nullable MemoryStream nextOther(long now, boolean writing) {
    long kept = writing ? appended - 1 : appended;
    MemoryStream sent = null;
    MemoryStream notifying = places.first(Place.UNDELIVERED);
    MemoryStream result = places.first(Place.RESULT);
    if (result != null && result.order() >= kept) {
      result = null;
    }
    for (MemoryStream stream : places.at(Place.ACTIVE)) {
      Oldest oldest = stream.oldest(now);
      if (oldest != Oldest.NOTHING && stream.order() < kept) {
        switch (oldest) {
          case DELIVERED -> sent = older(stream, sent);
          case NOTIFICATION -> notifying = older(stream, notifying);
          case RESULT, NOTHING -> result = older(stream, result);
        }
      }
    }
    return sent != null ? sent : notifying != null ? notifying : result;
  }

  private static MemoryStream older(MemoryStream stream, @Nullable MemoryStream other) {
    return other == null || stream.order() < other.order() ? stream : other;
  }

  private void discard(MemoryStream stream) {
    int events = stream.size();
    long before = stream.bytes();
    stream.discard();
    count(-events, -before);
    streams.remove(stream.ref().name(), stream);
    places.remove(stream);
    account.offer(Kind.DELIVERED, !places.at(Place.DELIVERED).isEmpty());
    if (bytes == 0) {
      offerOther(false);
    }
  }

  /** Purges what is old, in steps. */
  void sweep() {
    for (MemoryStream stream : streams.values()) {
      boolean hasMore = true;
      while (hasMore) {
        hasMore = locked(() -> sweep(stream, clock.millis()));
      }
    }
  }

  /** Returns true if there may be more to purge. */
  private boolean sweep(MemoryStream stream, long now) {
    boolean hasMore = inStep(() -> purgeOwn(stream, now));
    if (stream.isExpired(now) || (!stream.isOpen() && stream.size() == 0)) {
      discard(stream);
    } else {
      place(stream, now);
    }
    return hasMore;
  }

  /** Discards all streams, in steps. Later calls of {@link #open} fail. */
  void end() {
    run(() -> ended = true);
    streams.values().forEach(stream -> run(() -> discard(stream)));
  }

  private record Listed(MemoryStream stream, long expires) {}

  /** As {@link StreamIndex#list}: open streams never expire. */
  StreamIndex.Page list(long skip, int most) {
    List<Listed> all = new ArrayList<>();
    streams.values().forEach(stream -> all.add(new Listed(stream, locked(stream::expires))));
    return new StreamIndex.Page(
        all.stream()
            .sorted(Comparator.comparingLong(Listed::expires).reversed())
            .skip(skip)
            .limit(most)
            .map(each -> locked(() -> each.stream().entry(clock.millis())))
            .toList(),
        all.size() > skip + most);
  }

  ReadResult read(String name, Position after, int maxEvents, long maxBytes) {
    return locked(() -> {
      MemoryStream stream = streams.get(name);
      if (stream == null && hasLostStreams) {
        return new ReadResult.Gap(null);
      }
      return stream == null || stream.isExpired(clock.millis())
          ? new ReadResult.NoSuchStream()
          : stream.read(after, maxEvents, maxBytes);
    });
  }

  /** Looks at a stream. Returns the default when there is no such stream. */
  <T> T with(String name, T none, Function<MemoryStream, T> action) {
    return locked(() -> {
      MemoryStream stream = streams.get(name);
      return stream == null ? none : action.apply(stream);
    });
  }

  /** Applies an action to a stream, if it exists. */
  void change(String name, Consumer<MemoryStream> action) {
    run(() -> {
      MemoryStream stream = streams.get(name);
      if (stream != null) {
        action.accept(stream);
        place(stream, clock.millis());
      }
    });
  }
}

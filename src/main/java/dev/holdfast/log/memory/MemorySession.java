package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The streams of one session and their events. Thread-safe. */
final class MemorySession {

  /** As {@link StreamIndex#list}: open streams never expire. */
  private static final Comparator<MemoryStream> LISTED =
      Comparator.comparingLong(MemoryStream::expires).reversed();

  private final Retention retention;
  private final InstantSource clock;
  private final MemoryBudget budget;
  private final MemoryBudget.Account account;

  /** Guards all fields below, and the state of the streams. */
  private final AutoLock lock = new AutoLock();

  private final Map<String, MemoryStream> streams = new HashMap<>(4);

  /** The events of all streams, oldest first. */
  private final SequencedSet<MemoryStream.Stored> events = new LinkedHashSet<>();

  private long bytes;
  private int open;
  private boolean ended;

  /** Whether a quota has purged a complete stream. Then an unknown stream may be that one. */
  private boolean hasLostStreams;

  MemorySession(Retention retention, MemoryBudget budget, String client, InstantSource clock) {
    this.retention = retention;
    this.budget = budget;
    this.clock = clock;
    this.account = budget.open(client, _ -> purgeOldest());
  }

  private <T> T locked(Supplier<T> action) {
    try (var _ = lock.hold()) {
      return action.get();
    }
  }

  private void run(Runnable action) {
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
  MemoryStream open(StreamRef ref, String requests, @Nullable String sharedStream) {
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
      MemoryStream stream = new MemoryStream(ref, requests, shared);
      streams.put(ref.name(), stream);
      open++;
      return stream;
    });
  }

  /** Opens a shared stream, unless it is open already. */
  void openShared(StreamRef ref) {
    run(() -> {
      if (!streams.containsKey(ref.name())) {
        var _ = open(ref, "", null);
      }
    });
  }

  /** Appends to a stream of this session, and then purges what exceeds the quotas. */
  Position append(MemoryStream stream, List<NewEvent> added) {
    Position last = locked(() -> store(stream, added));
    budget.purgeOverflow(account);
    return last;
  }

  Position last(MemoryStream stream) {
    return locked(stream::last);
  }

  private Position store(MemoryStream stream, List<NewEvent> added) {
    stream.requireOpen();
    long now = clock.millis();
    MemoryStream keeper = stream.keeper();
    long before = keeper.bytes();
    int size = events.size();
    for (NewEvent event : added) {
      if (keeper == stream || event.payload().length > 0) {
        boolean isEnd = event.last() && keeper == stream;
        events.add(keeper.add(new NewEvent(event.payload(), event.upstreamId(), isEnd), now));
      }
    }
    count(events.size() - size, keeper.bytes() - before);
    purge(keeper, now);
    Position last = keeper == stream ? stream.last() : stream.count(added.size());
    if (added.getLast().last()) {
      open--;
      if (keeper == stream) {
        stream.complete(now + retention.eventTtl().toMillis());
      } else {
        discard(stream);
      }
    }
    return last;
  }

  /** Purges events of a stream by age and count, and those that exceed the bytes of a quota. */
  private void purge(MemoryStream stream, long now) {
    purgeOld(stream, now);
    while (stream.bytes() > retention.maxStreamBytes() && stream.size() > 1) {
      purgeFirst(stream);
    }
    while (bytes > retention.maxSessionBytes() && events.size() > 1) {
      purgeForQuota(events.getFirst().stream());
    }
  }

  private void purgeOld(MemoryStream stream, long now) {
    long oldest = now - retention.eventTtl().toMillis();
    while (stream.size() > retention.maxEvents() || stream.isOlderThan(oldest)) {
      purgeFirst(stream);
    }
  }

  private void purgeFirst(MemoryStream stream) {
    long before = stream.bytes();
    events.remove(stream.purge());
    count(-1, stream.bytes() - before);
  }

  private void count(int moreEvents, long moreBytes) {
    bytes += moreBytes;
    account.add(moreEvents, moreBytes);
  }

  private void purgeForQuota(MemoryStream stream) {
    purgeFirst(stream);
    if (!stream.isOpen() && stream.size() == 0) {
      discard(stream);
      hasLostStreams = true;
    }
  }

  /** Purges the oldest event, because this session has more of the common budget than others. */
  private void purgeOldest() {
    run(() -> {
      if (!events.isEmpty()) {
        purgeForQuota(events.getFirst().stream());
      }
    });
  }

  private void discard(MemoryStream stream) {
    stream.discard();
    while (stream.size() > 0) {
      purgeFirst(stream);
    }
    streams.remove(stream.ref().name(), stream);
  }

  void sweep() {
    run(() -> {
      long now = clock.millis();
      for (MemoryStream stream : List.copyOf(streams.values())) {
        purgeOld(stream, now);
        if (stream.isExpired(now) || (!stream.isOpen() && stream.size() == 0)) {
          discard(stream);
        }
      }
    });
  }

  /** Discards all streams. Later calls of {@link #open} fail. */
  void end() {
    run(() -> {
      ended = true;
      List.copyOf(streams.values()).forEach(this::discard);
    });
  }

  StreamIndex.Page list(long skip, int most) {
    return locked(() ->
        new StreamIndex.Page(
            streams.values().stream()
                .sorted(LISTED)
                .skip(skip)
                .limit(most)
                .map(MemoryStream::entry)
                .toList(),
            streams.size() > skip + most));
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

  /**
   * Looks at a stream.
   *
   * @return the result of the action; the default when there is no such stream
   */
  <T> T with(String name, T none, Function<MemoryStream, T> action) {
    return locked(() -> {
      MemoryStream stream = streams.get(name);
      return stream == null ? none : action.apply(stream);
    });
  }

  void markFullyDelivered(String name) {
    long expires = clock.millis() + retention.completedTtl().toMillis();
    change(name, stream -> stream.markFullyDelivered(expires));
  }

  void markDelivered(String name, Position position) {
    change(name, stream -> stream.markDelivered(position));
  }

  private void change(String name, Consumer<MemoryStream> action) {
    run(() -> Optional.ofNullable(streams.get(name)).ifPresent(action));
  }
}

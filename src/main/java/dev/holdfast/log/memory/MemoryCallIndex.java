package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.lock.LruMap;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the index in this process. When it is full, it forgets the calls that were not used for the
 * longest time.
 */
public final class MemoryCallIndex implements CallIndex {

  private static final int MAX_CALLS = 100_000;

  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();
  private final Map<String, Kept> calls = LruMap.create(MAX_CALLS);
  private final Map<StreamRef, Kept> read = LruMap.create(MAX_CALLS);

  /** An entry, until a time in ms since the epoch. */
  private record Kept(Entry entry, long until) {}

  /** Creates an empty index. */
  public MemoryCallIndex(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public @Nullable Entry exchange(
      String call, @Nullable Entry expected, @Nullable Entry next, Duration life) {
    try (var _ = lock.hold()) {
      Kept kept = calls.get(call);
      Kept current = kept == null || kept.until <= clock.millis() ? null : kept;
      Entry before = current == null ? null : current.entry;
      if (before != null && before.equals(next)) {
        return expected;
      }
      if (Objects.equals(before, expected)) {
        if (next == null) {
          calls.remove(call);
        } else if (current != null && life.isZero()) {
          calls.put(call, new Kept(next, current.until));
        } else {
          calls.put(call, new Kept(next, clock.millis() + life.toMillis()));
        }
      }
      return before;
    }
  }

  @Override
  public void markRead(StreamRef stream, Duration life) {
    read.put(stream, new Kept(new Entry(stream, NOBODY), clock.millis() + life.toMillis()));
  }

  @Override
  public boolean isRead(StreamRef stream) {
    Kept kept = read.get(stream);
    return kept != null && kept.until > clock.millis();
  }

  @Override
  public String replica() {
    return "local";
  }

  @Override
  public Optional<Duration> silence(String replica) {
    return Optional.of(Duration.ZERO);
  }

  @Override
  public Duration deadAfter() {
    return Duration.ZERO;
  }
}

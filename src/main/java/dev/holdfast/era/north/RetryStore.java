package dev.holdfast.era.north;

import dev.holdfast.lock.LruMap;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Keys of sealed states, and names of the states that were used. The same on all replicas.
 * Thread-safe.
 */
public interface RetryStore {

  /** The longest life of a state. */
  Duration MAX_LIFE = Duration.ofDays(1);

  /** The key for new states. Another one takes its place when it is too old. */
  RetryKey current();

  /** The key of that id; empty if there is none, or no more. */
  Optional<RetryKey> find(int id);

  /**
   * Uses a state.
   *
   * @param name names the state
   * @return false if it was used before
   */
  boolean use(String name);

  /** Takes back the use of a state that had no effect. */
  void release(String name);

  /** Keeps keys and names in this process. */
  final class InMemory implements RetryStore {

    private static final int MAX_KEYS = 3;
    private static final int MAX_NAMES = 100_000;

    private final InstantSource clock;
    private final Map<Integer, RetryKey> keys = LruMap.create(MAX_KEYS);
    private final Map<String, Boolean> used = LruMap.create(MAX_NAMES);
    private final AtomicReference<RetryKey> current;

    /** Creates the first key. */
    public InMemory(InstantSource clock) {
      this.clock = clock;
      current = new AtomicReference<>(RetryKey.random(clock.instant()));
    }

    @Override
    public RetryKey current() {
      RetryKey key =
          current.updateAndGet(
              last -> last.isOld(clock.instant()) ? RetryKey.random(clock.instant()) : last);
      keys.put(key.id(), key);
      return key;
    }

    @Override
    public Optional<RetryKey> find(int id) {
      return Optional.ofNullable(keys.get(id));
    }

    @Override
    public boolean use(String name) {
      return used.put(name, true) == null;
    }

    @Override
    public void release(String name) {
      used.remove(name);
    }
  }
}

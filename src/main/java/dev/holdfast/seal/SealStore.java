package dev.holdfast.seal;

import dev.holdfast.lock.LruMap;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Keys of seals, and names of sealed texts that were used. The same on all replicas. Thread-safe.
 */
public interface SealStore {

  /** The longest life of a sealed text. */
  Duration MAX_LIFE = Duration.ofDays(1);

  /** The key for new texts. Another one takes its place when it is too old. */
  SealKey current();

  /** The key of that id; empty if there is none, or no more. */
  Optional<SealKey> find(int id);

  /**
   * Uses a text that has an effect once.
   *
   * @param name names the text
   * @return false if it was used before
   */
  boolean use(String name);

  /** Returns true if a text was used. */
  boolean isUsed(String name);

  /** Takes back a use that had no effect. */
  void release(String name);

  /** Keeps keys and names in this process. */
  final class InMemory implements SealStore {

    private static final int MAX_KEYS = 3;
    private static final int MAX_NAMES = 100_000;

    private final InstantSource clock;
    private final Map<Integer, SealKey> keys = LruMap.create(MAX_KEYS);
    private final Map<String, Boolean> used = LruMap.create(MAX_NAMES);
    private final AtomicReference<SealKey> current;

    /** Creates the first key. */
    public InMemory(InstantSource clock) {
      this.clock = clock;
      current = new AtomicReference<>(SealKey.random(clock.instant()));
    }

    @Override
    public SealKey current() {
      SealKey key =
          current.updateAndGet(
              last -> last.isOld(clock.instant()) ? SealKey.random(clock.instant()) : last);
      keys.put(key.id(), key);
      return key;
    }

    @Override
    public Optional<SealKey> find(int id) {
      return Optional.ofNullable(keys.get(id));
    }

    @Override
    public boolean use(String name) {
      return used.put(name, true) == null;
    }

    @Override
    public boolean isUsed(String name) {
      return used.containsKey(name);
    }

    @Override
    public void release(String name) {
      used.remove(name);
    }
  }
}

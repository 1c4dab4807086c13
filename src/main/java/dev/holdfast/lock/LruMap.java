package dev.holdfast.lock;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A map with a limited size. A further entry replaces the least recently used. Thread-safe. */
public final class LruMap<K, V> {

  private final AutoLock lock = new AutoLock();

  /** Guarded by the lock. */
  private final Map<K, V> entries;

  /** Creates an empty map for a number of entries. */
  public LruMap(int max) {
    entries =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > max;
          }
        };
  }

  /** The value of a key; null if there is none. */
  public @Nullable V get(K key) {
    try (var _ = lock.hold()) {
      return entries.get(key);
    }
  }

  /** Sets the value of a key. */
  public void put(K key, V value) {
    try (var _ = lock.hold()) {
      entries.put(key, value);
    }
  }

  /** Returns the value of a key, and creates it if there is none. */
  public V computeIfAbsent(K key, Function<? super K, ? extends V> creator) {
    try (var _ = lock.hold()) {
      return entries.computeIfAbsent(key, creator);
    }
  }

  /** Replaces the value of a key, which may be null, by one that depends on it. */
  public V compute(K key, BiFunction<? super K, ? super @Nullable V, ? extends V> next) {
    try (var _ = lock.hold()) {
      return entries.compute(key, next);
    }
  }

  /** Removes the value of a key. */
  public void remove(K key) {
    try (var _ = lock.hold()) {
      entries.remove(key);
    }
  }

  /** A copy of the values, the least recently used first. */
  public List<V> values() {
    try (var _ = lock.hold()) {
      return List.copyOf(entries.values());
    }
  }

  /** The number of entries. */
  public int size() {
    try (var _ = lock.hold()) {
      return entries.size();
    }
  }
}

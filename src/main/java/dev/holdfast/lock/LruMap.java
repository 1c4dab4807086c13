package dev.holdfast.lock;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A map with a limited size. A further entry replaces the least recently used. Thread-safe. */
public final class LruMap<K, V> {

  private final Map<K, V> entries;

  /** Creates an empty map for a number of entries. */
  public LruMap(int max) {
    entries =
        Collections.synchronizedMap(
            new LinkedHashMap<>(16, 0.75f, true) {
              @Override
              protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > max;
              }
            });
  }

  /** The value of a key; null if there is none. */
  public @Nullable V get(K key) {
    return entries.get(key);
  }

  /** Sets the value of a key. */
  public void put(K key, V value) {
    entries.put(key, value);
  }

  /** Returns the value of a key, and creates it if there is none. */
  public V computeIfAbsent(K key, Function<? super K, ? extends V> creator) {
    return entries.computeIfAbsent(key, creator);
  }

  /** Replaces the value of a key, which may be null, by one that depends on it. */
  public V compute(K key, BiFunction<? super K, ? super @Nullable V, ? extends V> next) {
    return entries.compute(key, next);
  }

  /** Removes the value of a key. */
  public void remove(K key) {
    entries.remove(key);
  }

  /** A copy of the values, the least recently used first. */
  public List<V> values() {
    return List.copyOf(entries.values());
  }

  /** The number of entries. */
  public int size() {
    return entries.size();
  }
}

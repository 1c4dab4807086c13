package dev.holdfast.lock;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Maps with a limited size. A further entry replaces the least recently used. */
public final class LruMap {

  private LruMap() {}

  /** Creates a map for a number of entries. It is thread-safe, but for iterations. */
  public static <K, V> Map<K, V> create(int max) {
    return Collections.synchronizedMap(
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > max;
          }
        });
  }
}

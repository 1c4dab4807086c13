package dev.holdfast.log.memory;

import java.util.ArrayList;
import java.util.List;

/** The stored events of one stream: appended at one end, purged at the other, read by index. */
final class EventWindow<E> {

  /** The list is compacted when at least this many entries, and more than half, are purged. */
  private static final int COMPACT_AT = 32;

  private final List<E> entries = new ArrayList<>(0);
  private int purged;

  int size() {
    return entries.size() - purged;
  }

  boolean isEmpty() {
    return size() == 0;
  }

  E get(int index) {
    return entries.get(purged + index);
  }

  void add(E stored) {
    entries.add(stored);
  }

  /** Removes and returns the oldest event. */
  E purge() {
    E oldest = entries.get(purged);
    // Overwrite the entry, so the garbage collector can free the purged payload at once.
    entries.set(purged, entries.getLast());
    purged++;
    if (purged == entries.size() || (purged >= COMPACT_AT && purged > entries.size() / 2)) {
      entries.subList(0, purged).clear();
      purged = 0;
    }
    return oldest;
  }
}

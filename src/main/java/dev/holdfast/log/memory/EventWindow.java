package dev.holdfast.log.memory;

import java.util.ArrayList;
import java.util.List;

/** The stored events of one stream: appended at one end, purged at the other, read by index. */
final class EventWindow {

  /** The list is compacted when at least so many places, and half of all, are purged. */
  private static final int COMPACT_AT = 32;

  private final List<StoredEvent> places = new ArrayList<>(0);
  private int purged;

  int size() {
    return places.size() - purged;
  }

  boolean isEmpty() {
    return size() == 0;
  }

  StoredEvent get(int index) {
    return places.get(purged + index);
  }

  void add(StoredEvent stored) {
    places.add(stored);
  }

  /** Removes and returns the oldest event. */
  StoredEvent purge() {
    StoredEvent oldest = places.get(purged);
    // Overwritten, so that the garbage collector can free the purged payload at once.
    places.set(purged, places.getLast());
    purged++;
    if (purged == places.size() || (purged >= COMPACT_AT && purged > places.size() / 2)) {
      places.subList(0, purged).clear();
      purged = 0;
    }
    return oldest;
  }
}

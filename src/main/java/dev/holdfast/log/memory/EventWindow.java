package dev.holdfast.log.memory;

import java.util.ArrayList;
import java.util.List;

/** The kept events of one stream: added at one end, purged at the other, found by their index. */
final class EventWindow {

  /** Purged places are reused when they are at least so many, and half of all. */
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

  /** Removes the oldest. */
  StoredEvent purge() {
    StoredEvent oldest = places.get(purged);
    // Another event stands in, so that the purged one's payload can be collected at once.
    places.set(purged, places.getLast());
    purged++;
    if (purged == places.size() || (purged >= COMPACT_AT && purged > places.size() / 2)) {
      places.subList(0, purged).clear();
      purged = 0;
    }
    return oldest;
  }
}

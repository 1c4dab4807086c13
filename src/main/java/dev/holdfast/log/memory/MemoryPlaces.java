package dev.holdfast.log.memory;

import dev.holdfast.log.memory.MemoryStream.Place;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Streams of a session by place, the oldest first. The lock of the session guards them. */
final class MemoryPlaces {

  private final Map<Place, SequencedSet<MemoryStream>> places = new EnumMap<>(Place.class);

  MemoryPlaces() {
    for (Place place : Place.values()) {
      places.put(place, new LinkedHashSet<>(4));
    }
  }

  /** Moves a stream to a place, or to none. A stream that is there already keeps its turn. */
  void put(MemoryStream stream, @Nullable Place next) {
    places.forEach((place, all) -> {
      boolean _ = place == next ? all.add(stream) : all.remove(stream);
    });
  }

  void remove(MemoryStream stream) {
    places.values().forEach(all -> all.remove(stream));
  }

  SequencedSet<MemoryStream> at(Place place) {
    return Objects.requireNonNull(places.get(place));
  }

  /** Returns true if the condition holds for a stream that is open or followed. */
  boolean hasActive(Predicate<MemoryStream> condition) {
    return at(Place.ACTIVE).stream().anyMatch(condition);
  }

  /** The oldest stream at a place; null for none. */
  @Nullable MemoryStream first(Place place) {
    return at(place).isEmpty() ? null : at(place).getFirst();
  }
}

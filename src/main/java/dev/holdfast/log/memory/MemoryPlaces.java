package dev.holdfast.log.memory;

import dev.holdfast.log.memory.MemoryStream.Place;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Streams of a session by place, the oldest first. The lock of the session guards them. */
final class MemoryPlaces {

  private static final SequencedSet<MemoryStream> NONE =
      Collections.unmodifiableSequencedSet(new LinkedHashSet<>());

  private static final List<Place> ALL = List.of(Place.values());

  /** The places that have streams. */
  private final Map<Place, SequencedSet<MemoryStream>> places = new EnumMap<>(Place.class);

  /** Moves a stream to a place, or to none. A stream that is there already keeps its turn. */
  void put(MemoryStream stream, @Nullable Place next) {
    for (Place place : ALL) {
      Set<MemoryStream> streams = place == next ? null : places.get(place);
      if (streams != null && streams.remove(stream) && streams.isEmpty()) {
        places.remove(place);
      }
    }
    if (next != null) {
      places.computeIfAbsent(next, _ -> new LinkedHashSet<>(4)).add(stream);
    }
  }

  void remove(MemoryStream stream) {
    put(stream, null);
  }

  SequencedSet<MemoryStream> at(Place place) {
    return places.getOrDefault(place, NONE);
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

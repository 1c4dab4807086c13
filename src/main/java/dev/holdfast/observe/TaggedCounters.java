package dev.holdfast.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Counters of one name, one for each value of the tag {@code kind}. All are registered at the
 * start, so a scrape also shows counters that are still 0.
 *
 * @param <K> the values; the tag has their names in lower case
 */
final class TaggedCounters<K extends Enum<K>> {

  private final Map<K, Counter> counters;

  TaggedCounters(MeterRegistry registry, String name, Class<K> kinds, String... otherTags) {
    counters = new EnumMap<>(kinds);
    for (K kind : kinds.getEnumConstants()) {
      Tags tags = Tags.of(otherTags).and("kind", kind.name().toLowerCase(Locale.ROOT));
      counters.put(kind, registry.counter(name, tags));
    }
  }

  void increment(K kind) {
    Objects.requireNonNull(counters.get(kind)).increment();
  }
}

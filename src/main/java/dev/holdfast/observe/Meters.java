package dev.holdfast.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Meters of one registry. Subclasses register theirs, each with its name and a help text. */
abstract class Meters {

  /**
   * Upper bounds of the buckets of histograms. Each costs one series per timer and replica, so
   * there are few: quantiles are exact enough to tell 5 ms from 25 ms.
   */
  private static final Duration[] BUCKETS =
      IntStream.of(1, 5, 10, 25, 50, 100, 250, 1000, 5000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  final MeterRegistry registry;

  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  final Counter counter(String name, String help, String... tags) {
    return Counter.builder(name).description(help).tags(tags).register(registry);
  }

  /**
   * Registers a counter for each kind, since a scrape also shows counters that are still 0.
   *
   * @param <K> the kinds; a tag has their names in lower case
   */
  final <K extends Enum<K>> Map<K, Counter> counters(
      Class<K> kinds, String name, String help, String... otherTags) {
    Map<K, Counter> counters = new EnumMap<>(kinds);
    for (K kind : kinds.getEnumConstants()) {
      Tags tags = Tags.of(otherTags).and("kind", kind.name().toLowerCase(Locale.ROOT));
      counters.put(kind, Counter.builder(name).description(help).tags(tags).register(registry));
    }
    return counters;
  }

  static <K> void count(Map<K, Counter> counters, K kind) {
    Objects.requireNonNull(counters.get(kind)).increment();
  }

  final Timer histogram(String name, String help, String... tags) {
    return histogram(name, help, BUCKETS, tags);
  }

  final Timer histogram(String name, String help, Duration[] buckets, String... tags) {
    return Timer.builder(name)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(buckets)
        .register(registry);
  }

  /** Registers a gauge of a number that rises and falls, which is 0 now. */
  final AtomicInteger level(String name, String help) {
    AtomicInteger level = new AtomicInteger();
    var _ = gauge(name, null, help, level::get);
    return level;
  }

  final Gauge gauge(String name, String help, Supplier<Number> value, String... tags) {
    return gauge(name, null, help, value, tags);
  }

  /** Registers a gauge of bytes. */
  final void bytes(String name, String help, Supplier<Number> value, String... tags) {
    var _ = gauge(name, BaseUnits.BYTES, help, value, tags);
  }

  private Gauge gauge(
      String name, @Nullable String unit, String help, Supplier<Number> value, String... tags) {
    return Gauge.builder(name, value)
        .baseUnit(unit)
        .description(help)
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }
}

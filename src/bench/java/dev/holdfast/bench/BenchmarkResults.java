package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** All measured values: one per metric, contender and round. */
final class BenchmarkResults {

  private final Map<Metric, Map<Contender, List<Double>>> values = new LinkedHashMap<>();

  /** Adds the value of one round. */
  void add(Metric metric, Contender contender, double value) {
    values
        .computeIfAbsent(metric, _ -> new EnumMap<>(Contender.class))
        .computeIfAbsent(contender, _ -> new ArrayList<>())
        .add(value);
  }

  /** Metrics that have values, in the order in which they were measured. */
  Set<Metric> metrics() {
    return values.keySet();
  }

  /** Contenders that have values of a metric, in a fixed order. */
  Set<Contender> contenders(Metric metric) {
    return values.getOrDefault(metric, Map.of()).keySet();
  }

  /** Values in the order of the rounds. */
  List<Double> rounds(Metric metric, Contender contender) {
    return values.getOrDefault(metric, Map.of()).getOrDefault(contender, List.of());
  }

  /** Median of the values; empty if there are none. */
  OptionalDouble median(Metric metric, Contender contender) {
    return median(rounds(metric, contender).stream().mapToDouble(Double::doubleValue));
  }

  /**
   * How many times the value of another a contender has. Each round is compared with the same round
   * of the other, which ran next to it, and the middle of that is taken: so a noisy machine
   * disturbs it least.
   */
  OptionalDouble ratio(Metric metric, Contender contender, Contender to) {
    List<Double> own = rounds(metric, contender);
    List<Double> others = rounds(metric, to);
    return median(
        IntStream.range(0, Math.min(own.size(), others.size()))
            .mapToDouble(round -> own.get(round) / others.get(round)));
  }

  private static OptionalDouble median(DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    if (sorted.length == 0) {
      return OptionalDouble.empty();
    }
    int middle = sorted.length / 2;
    return OptionalDouble.of(
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
  }
}

package dev.holdfast.console.fleet;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The figures of the last hour of one replica, or of all together, in steps of a minute. */
final class Figures {

  private static final long STEP = 60_000;
  private static final int STEPS = 60;
  private static final List<String> SUMS = List.of("calls", "events", "resumes", "gaps", "errors");
  private static final List<String> LEVELS = List.of("connections", "memory");

  private Figures() {}

  /** Figures of one step. */
  private static final class Step {
    final Map<String, Long> sums = new TreeMap<>();

    /** By replica and level; the last one within the step counts. */
    final Map<String, Long> levels = new TreeMap<>();

    final Map<Double, Long> durations = new TreeMap<>();
  }

  /**
   * Returns the series of some reports, the oldest step first.
   *
   * @param now the end of the hour in ms
   */
  static JsonObject of(List<Report> reports, long now) {
    long end = now / STEP;
    Map<Long, Step> steps = new TreeMap<>();
    for (long at = end - STEPS + 1; at <= end; at++) {
      steps.put(at, new Step());
    }
    for (Report report : reports) {
      for (Object each : report.figures()) {
        JsonObject sample = (JsonObject) each;
        Step step = steps.get(sample.getLong("millis") / STEP);
        if (step != null) {
          add(step, report.replica(), sample);
        }
      }
    }
    JsonObject series = new JsonObject();
    series.put("times", new JsonArray(steps.keySet().stream().map(at -> at * STEP).toList()));
    SUMS.forEach(name ->
        series.put(
            name,
            new JsonArray(
                steps.values().stream().map(step -> step.sums.getOrDefault(name, 0L)).toList())));
    LEVELS.forEach(name ->
        series.put(
            name, new JsonArray(steps.values().stream().map(step -> level(step, name)).toList())));
    Map.of("p50", 0.5, "p95", 0.95, "p99", 0.99)
        .forEach((name, part) -> {
          JsonArray values = new JsonArray();
          steps.values().forEach(step -> values.add(percentile(step.durations, part)));
          series.put(name, values);
        });
    return series;
  }

  private static void add(Step step, String replica, JsonObject sample) {
    SUMS.forEach(name -> {
      long _ = step.sums.merge(name, sample.getLong(name), Long::sum);
    });
    LEVELS.forEach(name -> {
      Long _ = step.levels.put(name + " " + replica, sample.getLong(name));
    });
    for (Object each : sample.getJsonArray("durations")) {
      JsonArray bucket = (JsonArray) each;
      long _ = step.durations.merge(bucket.getDouble(0), bucket.getLong(1), Long::sum);
    }
  }

  private static long level(Step step, String name) {
    return step.levels.entrySet().stream()
        .filter(each -> each.getKey().startsWith(name + " "))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /**
   * The upper bound of the bucket in which a part of the calls ends, in seconds; zero without
   * calls.
   *
   * @param cumulative number of calls up to each bound
   */
  private static double percentile(Map<Double, Long> cumulative, double part) {
    long all = cumulative.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return cumulative.entrySet().stream()
        .filter(bucket -> all > 0 && bucket.getValue() >= all * part)
        .mapToDouble(Map.Entry::getKey)
        .filter(Double::isFinite)
        .findFirst()
        .orElse(0);
  }
}

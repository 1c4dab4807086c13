package dev.holdfast.console.fleet;

import dev.holdfast.upstream.UpstreamMonitor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Figures of the servers as one replica knows them, and the sum of all replicas.
 *
 * @param names lists the servers, which may change
 */
public record ServerFigures(
    MeterRegistry metrics,
    UpstreamMonitor monitor,
    Peers peers,
    Supplier<? extends Collection<String>> names) {

  private static final List<String> SUMS =
      List.of("calls", "totalMillis", "respawns", "sessions", "translated", "reopened", "resumed");

  private static final List<String> TEXTS = List.of("revision", "transport", "about");

  /** Reads the figures of the servers, by their names. */
  public JsonObject read() {
    Map<String, Optional<UpstreamMonitor.Problem>> problems = monitor.problems();
    Map<String, UpstreamMonitor.Problem> last = monitor.lastFailures();
    JsonObject servers = new JsonObject();
    for (String name : names.get()) {
      JsonObject described =
          describe(name).put("up", problems.getOrDefault(name, Optional.empty()).isEmpty());
      UpstreamMonitor.Problem failure = last.get(name);
      if (failure != null) {
        described.put(
            "failure",
            new JsonObject()
                .put("reason", failure.reason())
                .put("since", failure.since().toString()));
      }
      servers.put(name, described);
    }
    return servers;
  }

  private JsonObject describe(String name) {
    Timer calls = metrics.find("holdfast.call.duration").tag("upstream", name).timer();
    JsonObject errors = new JsonObject();
    for (Counter counter :
        metrics.find("holdfast.upstream.errors").tag("upstream", name).counters()) {
      if (counter.count() > 0) {
        errors.put(String.valueOf(counter.getId().getTag("kind")), (long) counter.count());
      }
    }
    return peers
        .server(name)
        .put("calls", calls == null ? 0 : calls.count())
        .put("totalMillis", calls == null ? 0 : (long) calls.totalTime(TimeUnit.MILLISECONDS))
        .put("errors", errors)
        .put("respawns", count("holdfast.respawns", name));
  }

  private long count(String name, String upstream) {
    return (long)
        metrics.find(name).tag("upstream", upstream).counters().stream()
            .mapToDouble(Counter::count)
            .sum();
  }

  /**
   * Joins what replicas know of one server.
   *
   * @param replicas their figures, by the replica; those that do not know the server have none
   */
  static JsonObject sum(Map<String, JsonObject> replicas, String name) {
    JsonObject sum = new JsonObject().put("up", true).put("downOn", 0);
    SUMS.forEach(field -> sum.put(field, 0L));
    TEXTS.forEach(field -> sum.put(field, ""));
    JsonObject errors = new JsonObject();
    replicas.forEach((replica, servers) -> {
      JsonObject found = servers.getJsonObject(name);
      if (found == null) {
        return;
      }
      SUMS.forEach(field -> sum.put(field, sum.getLong(field) + found.getLong(field, 0L)));
      TEXTS.stream()
          .filter(field -> !found.getString(field, "").isEmpty())
          .forEach(field -> sum.put(field, found.getString(field)));
      found
          .getJsonObject("errors", new JsonObject())
          .forEach(error ->
              errors.put(
                  error.getKey(),
                  errors.getLong(error.getKey(), 0L) + ((Number) error.getValue()).longValue()));
      if (!found.getBoolean("up", true)) {
        sum.put("up", false).put("downOn", sum.getInteger("downOn") + 1);
      }
      JsonObject failure = found.getJsonObject("failure");
      JsonObject before = sum.getJsonObject("failure");
      if (failure != null
          && (before == null
              || failure.getString("since").compareTo(before.getString("since")) > 0)) {
        sum.put("failure", failure.copy().put("replica", replica));
      }
    });
    return sum.put("errors", errors);
  }
}

package dev.holdfast.console;

import dev.holdfast.clients.KnownClient;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.console.access.RefusedException;
import dev.holdfast.console.fleet.Call;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMonitor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The rooms of servers and of clients. Methods block. */
public final class Servers {

  private final GatewayInfo info;
  private final UpstreamMonitor monitor;
  private final MeterRegistry metrics;
  private final Fleet fleet;
  private final KnownClients clients;
  private final Function<String, Optional<MergedUpstream.Survey>> surveys;

  /**
   * Creates the rooms.
   *
   * @param surveys asks all servers of a merged endpoint; empty for another name
   */
  public Servers(
      GatewayInfo info,
      UpstreamMonitor monitor,
      MeterRegistry metrics,
      Fleet fleet,
      KnownClients clients,
      Function<String, Optional<MergedUpstream.Survey>> surveys) {
    this.info = info;
    this.monitor = monitor;
    this.metrics = metrics;
    this.fleet = fleet;
    this.clients = clients;
    this.surveys = surveys;
  }

  /** Lists the servers, as this replica sees them. */
  JsonObject list() {
    Map<String, Optional<UpstreamMonitor.Problem>> problems = monitor.problems();
    Map<String, UpstreamMonitor.Problem> last = monitor.lastFailures();
    return new JsonObject()
        .put(
            "servers",
            new JsonArray(
                info.servers().get().stream()
                    .map(server ->
                        describe(
                                server,
                                problems.getOrDefault(server.name(), Optional.empty()).isEmpty())
                            .put("failure", failure(last.get(server.name()))))
                    .toList()));
  }

  private static @Nullable JsonObject failure(UpstreamMonitor.@Nullable Problem problem) {
    return problem == null
        ? null
        : new JsonObject().put("reason", problem.reason()).put("since", problem.since().toString());
  }

  private JsonObject describe(GatewayInfo.Server server, boolean up) {
    Timer calls = metrics.find("holdfast.call.duration").tag("upstream", server.name()).timer();
    JsonObject errors = new JsonObject();
    for (Counter counter :
        metrics.find("holdfast.upstream.errors").tag("upstream", server.name()).counters()) {
      if (counter.count() > 0) {
        errors.put(String.valueOf(counter.getId().getTag("kind")), (long) counter.count());
      }
    }
    return server
        .json(up)
        .put("calls", calls == null ? 0 : calls.count())
        .put("meanMillis", calls == null ? 0 : (long) calls.mean(TimeUnit.MILLISECONDS))
        .put("errors", errors)
        .put("respawns", count("holdfast.respawns", server.name()));
  }

  private long count(String name, String upstream) {
    return (long)
        metrics.find(name).tag("upstream", upstream).counters().stream()
            .mapToDouble(Counter::count)
            .sum();
  }

  /**
   * Asks the servers of a merged endpoint for their names; empty for another server.
   *
   * @throws RefusedException when that fails
   */
  Optional<JsonObject> names(String endpoint) {
    try {
      return surveys
          .apply(endpoint)
          .map(survey ->
              new JsonObject()
                  .put("tools", new JsonObject(new LinkedHashMap<>(survey.tools())))
                  .put("dropped", new JsonArray(survey.dropped()))
                  .put("unavailable", new JsonObject(new LinkedHashMap<>(survey.unavailable()))));
    } catch (UpstreamException failed) {
      throw new RefusedException(502, String.valueOf(failed.getMessage()));
    }
  }

  /** The clients of the last calls. */
  JsonObject clients() {
    Map<String, List<Call>> byClient = new LinkedHashMap<>();
    for (Call call : fleet.view().calls().values()) {
      byClient
          .computeIfAbsent(
              String.join("\0", call.client(), call.agent(), call.version()),
              _ -> new ArrayList<>())
          .add(call);
    }
    return new JsonObject()
        .put("clients", new JsonArray(byClient.values().stream().map(this::client).toList()));
  }

  private JsonObject client(List<Call> calls) {
    Call first = calls.getFirst();
    KnownClient known = clients.find(first.agent(), first.client());
    List<String> repairs = new ArrayList<>();
    if (!known.retry()) {
      repairs.add("streams without the field retry");
    }
    if (!known.priming()) {
      repairs.add("streams without a first event");
    }
    return new JsonObject()
        .put("client", first.client())
        .put("agent", first.agent())
        .put("version", first.version())
        .put("known", known.equals(KnownClient.UNKNOWN) ? null : known.name())
        .put("resumes", known.resumes())
        .put("timeLimit", known.timeLimit() == null ? null : known.timeLimit().toSeconds())
        .put("repairs", new JsonArray(repairs))
        .put("calls", calls.size())
        .put("resumed", calls.stream().mapToInt(Call::resumes).sum())
        .put(
            "notFetched",
            calls.stream().filter(call -> call.state() == Call.State.NOT_FETCHED).count());
  }
}

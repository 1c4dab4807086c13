package dev.holdfast.console;

import dev.holdfast.clients.KnownClient;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.console.access.RefusedException;
import dev.holdfast.console.fleet.Call;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The rooms of servers and of clients. Methods block. */
public final class Servers {

  private static final int MOST_CLIENTS = 100;

  private final GatewayInfo info;
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
      Fleet fleet,
      KnownClients clients,
      Function<String, Optional<MergedUpstream.Survey>> surveys) {
    this.info = info;
    this.fleet = fleet;
    this.clients = clients;
    this.surveys = surveys;
  }

  /** Lists the servers, as all replicas see them together. */
  JsonObject list() {
    Fleet.View view = fleet.view();
    return new JsonObject()
        .put(
            "servers",
            new JsonArray(
                info.servers().get().stream()
                    .map(server -> {
                      JsonObject known = view.server(server.name());
                      return server.json(known.getBoolean("up")).mergeIn(known);
                    })
                    .toList()));
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

  /** The clients of the last calls, those with most calls first, and others with a session. */
  JsonObject clients() {
    Fleet.View view = fleet.view();
    Map<String, List<Call>> byClient = new LinkedHashMap<>();
    for (Call call : view.calls().values()) {
      byClient.computeIfAbsent(call.client(), _ -> new ArrayList<>()).add(call);
    }
    Map<String, List<JsonObject>> met =
        view.clients().collect(Collectors.groupingBy(each -> each.getString("client")));
    met.keySet().forEach(name -> byClient.computeIfAbsent(name, _ -> new ArrayList<>()));
    return new JsonObject()
        .put(
            "clients",
            new JsonArray(
                byClient.entrySet().stream()
                    .sorted(
                        Comparator.comparingInt(
                                (Map.Entry<String, List<Call>> each) -> each.getValue().size())
                            .reversed())
                    .limit(MOST_CLIENTS)
                    .map(each ->
                        client(
                            each.getKey(),
                            each.getValue(),
                            met.getOrDefault(each.getKey(), List.of())))
                    .toList()));
  }

  private JsonObject client(String name, List<Call> calls, List<JsonObject> met) {
    String agent = calls.isEmpty() ? "" : calls.getFirst().agent();
    String version = calls.isEmpty() ? "" : calls.getFirst().version();
    KnownClient known = clients.find(agent, name);
    List<String> repairs = new ArrayList<>();
    if (!known.retry()) {
      repairs.add("streams without the field retry");
    }
    if (!known.priming()) {
      repairs.add("streams without a first event");
    }
    add(repairs, "sessions translated for a server of another era", sum(met, "translated"));
    add(repairs, "calls answered with a handle", early(calls, "held"));
    add(repairs, "calls made tasks", early(calls, "task"));
    return new JsonObject()
        .put("client", name)
        .put("agent", agent)
        .put("version", met.isEmpty() ? version : met.getFirst().getString("revision"))
        .put("can", met.isEmpty() ? null : can(calls, met))
        .put("sessions", sum(met, "sessions"))
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

  /** Servers do not hear of tasks that the gateway makes, so they show in the calls. */
  private static JsonArray can(List<Call> calls, List<JsonObject> met) {
    JsonArray can = met.getFirst().getJsonArray("can").copy();
    return early(calls, "task") == 0 || can.contains("tasks") ? can : can.add("tasks");
  }

  private static void add(List<String> repairs, String what, long count) {
    if (count > 0) {
      repairs.add(count + " " + what);
    }
  }

  private static long sum(List<JsonObject> met, String field) {
    return met.stream().mapToLong(each -> each.getLong(field)).sum();
  }

  private static long early(List<Call> calls, String how) {
    return calls.stream().filter(call -> call.early().equals(how)).count();
  }
}

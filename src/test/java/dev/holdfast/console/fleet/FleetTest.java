package dev.holdfast.console.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.cluster.ReplicaList;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls that several replicas report, joined. */
class FleetTest {

  private static final Instant NOW = Instant.parse("2026-11-28T12:00:00Z");

  private static final JsonObject COUNTS = new JsonObject().put("gaps", 2L);

  private static final JsonObject NO_SERVERS = new JsonObject();
  private static final JsonArray NO_CLIENTS = new JsonArray();

  private final List<Report> others = new ArrayList<>();
  private final List<String> alive = new ArrayList<>(List.of("self", "other"));
  private final List<String> forgotten = new ArrayList<>();
  private Report own = report("self");

  private final Fleet fleet =
      new Fleet(
          () -> own,
          new Reports() {
            @Override
            public List<byte[]> latest() {
              List<byte[]> all = new ArrayList<>(others.stream().map(Report::write).toList());
              all.add(new byte[] {1, 2, 3});
              return all;
            }

            @Override
            public void forget(String replica) {
              forgotten.add(replica);
            }
          },
          null,
          () ->
              alive.stream()
                  .map(id -> new ReplicaList.Replica(new ReplicaId(id), Duration.ZERO, true))
                  .toList(),
          () -> NOW);

  private static Report report(String replica, JsonObject... calls) {
    return new Report(
        replica,
        NOW.toEpochMilli(),
        new JsonArray(List.of(calls)),
        new JsonArray(),
        COUNTS,
        NO_SERVERS,
        NO_CLIENTS);
  }

  private static JsonObject call(String stream, boolean owned) {
    return new JsonObject()
        .put("session", "s")
        .put("stream", stream)
        .put("tool", owned ? "deploy" : "")
        .put("requests", owned ? "1" : "")
        .put("started", owned ? 1000L : 0L)
        .put("owned", owned)
        .put("takenOver", false)
        .put("waiting", false)
        .put("events", 3L)
        .put("bytes", 10L)
        .put("changed", 2000L)
        .put("end", "")
        .put("connections", 0)
        .put("delivered", false)
        .put("upstream", owned ? "files" : "")
        .put("principal", "key alice")
        .put("client", "agent/1")
        .put("steps", new JsonArray().add(new JsonArray().add(1000L).add("started")));
  }

  private Call only() {
    Collection<Call> calls = fleet.view().calls().values();
    assertThat(calls).hasSize(1);
    return calls.iterator().next();
  }

  @Test
  void shouldJoinTheOwnerAndTheReplicaThatServesTheClient() {
    own = report("self", call("a", false).put("connections", 1));
    others.add(report("other", call("a", true)));

    Call call = only();

    assertThat(call.state()).isEqualTo(Call.State.RUNNING);
    assertThat(call.owner()).isEqualTo("other");
    assertThat(call.tool()).isEqualTo("deploy");
    assertThat(call.key()).hasSize(32).doesNotContain("s/a");
    assertThat(call.json().encode()).doesNotContain("session", "requests");
  }

  @Test
  void shouldTellThatTheClientIsGoneOrTheOwnerLost() {
    own = report("self");
    others.add(report("other", call("a", true)));
    assertThat(only().state()).isEqualTo(Call.State.CLIENT_GONE);

    alive.remove("other");
    Fleet later = new Fleet(() -> own, reports(), null, () -> List.of(), () -> NOW);
    assertThat(later.view().calls().values())
        .extracting(Call::state)
        .containsExactly(Call.State.OWNER_LOST);
  }

  private Reports reports() {
    return new Reports() {
      @Override
      public List<byte[]> latest() {
        return others.stream().map(Report::write).toList();
      }

      @Override
      public void forget(String replica) {
        forgotten.add(replica);
      }
    };
  }

  @Test
  void shouldListNoRequestsThatCallNoTool() {
    own = report("self", call("a", false).put("connections", 1));

    assertThat(fleet.view().calls()).isEmpty();
  }

  @Test
  void shouldPreferTheReplicaThatHasTakenOver() {
    own = report("self", call("a", true).put("takenOver", true).put("changed", 1500L));
    others.add(report("other", call("a", true)));

    assertThat(only().owner()).isEqualTo("self");
    assertThat(only().isTakenOver()).isTrue();
  }

  @Test
  void shouldTellFetchedResultsFromOthers() {
    own =
        report(
            "self",
            call("a", true).put("end", "result"),
            call("b", true).put("end", "result").put("delivered", true),
            call("c", true).put("end", "cancelled"),
            call("d", true).put("end", "error").put("delivered", true));

    assertThat(fleet.view().calls().values())
        .extracting(Call::state)
        .containsExactlyInAnyOrder(
            Call.State.NOT_FETCHED, Call.State.FINISHED, Call.State.CANCELLED, Call.State.FAILED);
  }

  @Test
  void shouldPreferWhatTheReplicaKnowsThatRanACall() {
    JsonObject stored =
        call("a", false)
            .put("stored", true)
            .put("tool", "deploy")
            .put("started", 1000L)
            .put("end", "result")
            .put("delivered", true);
    own = report("self", stored);
    assertThat(only().state()).isEqualTo(Call.State.FINISHED);
    assertThat(only().owner()).isEmpty();
    assertThat(only().steps()).hasSize(1);

    others.add(report("other", call("a", true).put("end", "result")));
    Fleet later = new Fleet(() -> own, reports(), null, () -> List.of(), () -> NOW);

    Call both = later.view().calls().values().iterator().next();
    assertThat(both.owner()).isEqualTo("other");
    assertThat(both.state()).isEqualTo(Call.State.FINISHED);
    assertThat(both.steps()).hasSize(1);
  }

  @Test
  void shouldAddTheNumbersOfReplicasThatAreThere() {
    others.add(report("other"));
    others.add(report("gone"));

    assertThat(fleet.view().counts().getLong("gaps")).isEqualTo(4);
    assertThat(fleet.view().counts().getLong("resumes")).isZero();
  }

  @Test
  void shouldForgetReplicasThatAreGoneForLong() {
    long old = NOW.minus(Duration.ofHours(2)).toEpochMilli();
    others.add(
        new Report(
            "gone",
            old,
            new JsonArray().add(call("a", true)),
            new JsonArray(),
            COUNTS,
            NO_SERVERS,
            NO_CLIENTS));

    assertThat(fleet.view().calls()).isEmpty();
    assertThat(forgotten).containsExactly("gone");
  }

  @Test
  void shouldFilterSearchSortAndPage() {
    List<JsonObject> calls = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      calls.add(call("c" + i, true).put("started", 1000L + i).put("tool", "tool" + i % 3));
    }
    calls.add(call("last", true).put("tool", "Deploy").put("end", "result").put("started", 5L));
    own = report("self", calls.toArray(JsonObject[]::new));
    Collection<Call> all = fleet.view().calls().values();

    JsonObject page = new CallList("open", "TOOL1 alice", "started", 10, 5).of(all, 2000);

    assertThat(page.getInteger("total")).isEqualTo(61);
    assertThat(page.getInteger("found")).isEqualTo(20);
    assertThat(page.getJsonArray("calls")).hasSize(5);
    assertThat(page.getJsonArray("calls").getJsonObject(0).getLong("started")).isEqualTo(1031);
    assertThat(page.getJsonObject("states").getInteger("not fetched")).isEqualTo(1);
    assertThat(new CallList("not fetched", "", "-tool", 0, 5).of(all, 0).getInteger("found"))
        .isEqualTo(1);
    assertThat(new CallList("", "", "no such column", 0, 100_000).of(all, 0).getJsonArray("calls"))
        .hasSize(61);
    assertThat(new CallList("", "", "-started", 0, 100_000).most()).isEqualTo(CallList.MAX_PAGE);
  }

  @Test
  void shouldAddFiguresOfReplicasMinuteByMinute() {
    JsonObject sample =
        new JsonObject()
            .put("millis", NOW.toEpochMilli())
            .put("calls", 10L)
            .put("events", 20L)
            .put("resumes", 1L)
            .put("gaps", 0L)
            .put("errors", 2L)
            .put("connections", 5L)
            .put("memory", 100L)
            .put(
                "durations",
                new JsonArray()
                    .add(new JsonArray().add(0.1).add(5L))
                    .add(new JsonArray().add(1.0).add(9L))
                    .add(new JsonArray().add(10.0).add(10L)));
    own =
        new Report(
            "self",
            0,
            new JsonArray(),
            new JsonArray().add(sample).add(sample),
            COUNTS,
            NO_SERVERS,
            NO_CLIENTS);
    others.add(
        new Report(
            "other",
            NOW.toEpochMilli(),
            new JsonArray(),
            new JsonArray().add(sample),
            COUNTS,
            NO_SERVERS,
            NO_CLIENTS));

    JsonObject figures = fleet.figures();

    JsonObject all = figures.getJsonObject("all");
    assertThat(all.getJsonArray("calls")).hasSize(60);
    assertThat(all.getJsonArray("calls").getLong(59)).isEqualTo(30);
    assertThat(all.getJsonArray("calls").getLong(58)).isZero();
    assertThat(all.getJsonArray("connections").getLong(59)).isEqualTo(10);
    assertThat(all.getJsonArray("p50").getDouble(59)).isEqualTo(0.1);
    assertThat(all.getJsonArray("p95").getDouble(59)).isEqualTo(10.0);
    assertThat(
            figures
                .getJsonObject("replicas")
                .getJsonObject("other")
                .getJsonArray("calls")
                .getLong(59))
        .isEqualTo(10);
  }
}

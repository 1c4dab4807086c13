package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers of every kind behind one endpoint of three replicas. Replicas and servers are killed,
 * frozen and stopped, one after another, while each client has a call at each server.
 */
@Timeout(600)
class MergedFaultsIT {

  private static final List<String> SERVERS = List.of("old", "new", "sse", "stdio", "default");

  /** The server that can resume its calls, so no lost replica ends them. */
  private static final String RESUMABLE = "old";

  private static final int CLIENTS = LongRun.REQUESTED ? 20 : 5;
  private static final int STEPS = 60;
  private static final int STEP_MILLIS = 100;

  /** Longer than the others wait for a heartbeat. */
  private static final int LOST_MILLIS = 4000;

  private static final int FROZEN_MILLIS = 1000;

  private final Random random = new Random(33);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** A call with the name of its server. */
  private record Call(String server, Transcript transcript, Future<?> end) {}

  @Test
  void shouldLoseNothingWhenReplicasAndServersFail() throws Exception {
    try (NodeFixture old = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture stateless = NodeFixture.start(NodeFixture.STATELESS_SERVER);
        NodeFixture legacy = NodeFixture.start(NodeFixture.LEGACY_SERVER);
        RedisFixture redis = RedisFixture.start();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Map<String, String> settings = new HashMap<>(redis.gatewaySettings());
      settings.put("holdfast.upstreams.old.url", old.url().toString());
      settings.put("holdfast.upstreams.new.url", stateless.url().toString());
      settings.put("holdfast.upstreams.sse.url", legacy.url("/sse").toString());
      settings.put(
          "holdfast.upstreams.stdio.command",
          NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO));
      settings.put("holdfast.merge.servers", String.join(",", SERVERS));
      settings.put("holdfast.cluster.heartbeat", "200ms");
      settings.put("holdfast.cluster.dead-after", "2s");
      settings.put("holdfast.stream.retry", "100ms");
      List<Gateway> fleet = Gateway.startAll(List.of(settings, settings, settings));
      try {
        List<URI> urls = fleet.stream().map(Gateway::url).toList();
        List<FollowingClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(new FollowingClient(http, urls, random));
        }

        // A server that stands still for a while costs nothing, and its neighbours do not notice.
        List<Call> calls = call(threads, clients, 100);
        for (NodeFixture server : List.of(old, stateless, legacy)) {
          freeze(List.of(server.process()), FROZEN_MILLIS);
        }
        for (Gateway replica : fleet) {
          freeze(replica.children(), FROZEN_MILLIS);
        }
        check(calls, SERVERS);

        // A frozen replica is a lost one, and writes nothing when it comes back.
        calls = call(threads, clients, 200);
        Gateway frozen = fleet.getFirst();
        frozen.freeze();
        Thread.sleep(LOST_MILLIS);
        frozen.thaw();
        check(calls, List.of(RESUMABLE));

        calls = call(threads, clients, 300);
        fleet.get(1).kill();
        check(calls, List.of(RESUMABLE));

        calls = call(threads, clients, 400);
        fleet.get(2).terminate();
        check(calls, List.of(RESUMABLE));
        // Until it has left, calls of its sessions still go to it.
        assertThat(fleet.get(2).awaitEnd(60)).isTrue();

        calls = call(threads, clients, 500);
        boolean _ = legacy.process().destroyForcibly();
        check(calls, List.of("old", "new", "stdio", "default"));

        // Each server that runs works in each of the sessions.
        for (FollowingClient client : clients) {
          for (String server : List.of("old", "new", "stdio", "default")) {
            Transcript call = client.call(request(600, server, 3), random);
            assertThat(call.results()).as("%s %s", server, call).isEqualTo(1);
            assertThat(call.errors()).as("%s %s", server, call).isEmpty();
          }
        }
      } finally {
        fleet.forEach(Gateway::close);
      }
    }
  }

  private static void freeze(List<ProcessHandle> processes, int millis)
      throws InterruptedException {
    processes.forEach(ServerProcess::freeze);
    Thread.sleep(millis);
    processes.forEach(ServerProcess::thaw);
  }

  private static String request(int id, String server, int steps) {
    String arguments =
        server.equals("default")
            ? "{\"from\":%d,\"intervalMs\":%d}"
            : "{\"n\":%d,\"intervalMs\":%d}";
    return ToolRequest.of(
        id,
        server + (server.equals("default") ? "__countdown" : "__count"),
        arguments.formatted(steps, STEP_MILLIS));
  }

  private List<Call> call(ExecutorService threads, List<FollowingClient> clients, int id) {
    List<Call> calls =
        clients.stream()
            .flatMap(client ->
                SERVERS.stream()
                    .map(server -> {
                      String request = request(id + SERVERS.indexOf(server), server, STEPS);
                      Transcript transcript = new Transcript();
                      Future<?> end =
                          threads.submit(() -> {
                            client.begin(request, new Random(id), transcript, _ -> false);
                            client.resume(transcript, new Random(id));
                            return null;
                          });
                      return new Call(server, transcript, end);
                    }))
            .toList();
    // From the first event on, the server's id of the last event is known to all replicas.
    await()
        .untilAsserted(() ->
            assertThat(calls)
                .allSatisfy(
                    call -> assertThat(call.transcript().progress()).hasSizeGreaterThan(1)));
    return calls;
  }

  /** Each call ends once, nothing comes twice, and the calls of some servers are whole. */
  private static void check(List<Call> calls, List<String> whole) throws Exception {
    for (Call call : calls) {
      Object _ = call.end().get();
      Transcript transcript = call.transcript();
      String about = call.server() + " " + transcript;
      assertThat(transcript.isHung()).as(about).isFalse();
      assertThat(transcript.results() + transcript.errors().size()).as(about).isEqualTo(1);
      assertThat(transcript.ids()).as(about).doesNotHaveDuplicates();
      if (whole.contains(call.server())) {
        FleetClients.assertWhole(transcript, STEPS, "");
      } else {
        assertThat(transcript.progress())
            .as(about)
            .isEqualTo(FleetClients.upTo(transcript.progress().size()));
      }
    }
  }
}

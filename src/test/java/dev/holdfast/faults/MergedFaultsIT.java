package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
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
 * Servers of every kind behind one endpoint of three replicas. One replica and one server after
 * another is killed while each client has a call at each server.
 */
@Timeout(600)
class MergedFaultsIT {

  private static final List<String> SERVERS = List.of("old", "new", "sse", "stdio");

  /** The server that can resume its calls, so no killed replica ends them. */
  private static final String RESUMABLE = "old";

  private static final int CLIENTS = Load.LONG ? 20 : 5;
  private static final int STEPS = 60;
  private static final int STEP_MILLIS = 100;

  private final Random random = new Random(33);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** A call with the name of its server. */
  private record Call(String server, Transcript transcript, Future<?> end) {}

  @Test
  void shouldLoseNothingWhenReplicasAndServersAreKilled() throws Exception {
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
      settings.put("holdfast.merge.servers", "old,new,sse,stdio,default");
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
        List<Call> first = call(threads, clients, 100);
        fleet.getFirst().kill();
        check(first);

        List<Call> second = call(threads, clients, 200);
        stop(legacy);
        fleet.get(1).kill();
        check(second.stream().filter(call -> !call.server().equals("sse")).toList());

        // Each server that runs works in each of the sessions.
        for (FollowingClient client : clients) {
          for (String server : List.of("old", "new", "stdio")) {
            Transcript call =
                client.call(ToolRequest.of(300, server + "__count", "{\"n\":3}"), random);
            assertThat(call.results()).as("%s %s", server, call).isEqualTo(1);
            assertThat(call.errors()).as("%s %s", server, call).isEmpty();
          }
        }
      } finally {
        fleet.forEach(Gateway::close);
      }
    }
  }

  private static void stop(AutoCloseable server) throws Exception {
    server.close();
  }

  private List<Call> call(ExecutorService threads, List<FollowingClient> clients, int id) {
    String arguments = "{\"n\":%d,\"intervalMs\":%d}".formatted(STEPS, STEP_MILLIS);
    List<Call> calls =
        clients.stream()
            .flatMap(client ->
                SERVERS.stream()
                    .map(server -> {
                      String request =
                          ToolRequest.of(
                              id + SERVERS.indexOf(server), server + "__count", arguments);
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

  /** Each call ends once, nothing comes twice, and a call that can be resumed is whole. */
  private static void check(List<Call> calls) throws Exception {
    for (Call call : calls) {
      Object _ = call.end().get();
      Transcript transcript = call.transcript();
      String about = call.server() + " " + transcript;
      assertThat(transcript.isHung()).as(about).isFalse();
      assertThat(transcript.results() + transcript.errors().size()).as(about).isEqualTo(1);
      assertThat(transcript.ids()).as(about).doesNotHaveDuplicates();
      if (call.server().equals(RESUMABLE)) {
        FleetClients.assertWhole(transcript, STEPS, "");
      } else {
        assertThat(transcript.progress())
            .as(about)
            .isEqualTo(FleetClients.upTo(transcript.progress().size()));
      }
    }
  }
}

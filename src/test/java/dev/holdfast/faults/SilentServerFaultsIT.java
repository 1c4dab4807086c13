package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static dev.holdfast.faults.HostScenario.MINUTES;
import static dev.holdfast.faults.HostScenario.assertGoesOn;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.faults.server.ServerFault;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ToolRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Packets between a replica and its server vanish, so that a connection dies without FIN or RST.
 * TCP's keep-alive takes a minute to notice, so every build would be too often.
 */
@Tag("alone")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@EnabledIfSystemProperty(named = "holdfast.faults", matches = "long")
class SilentServerFaultsIT {

  /** Two minutes, which is more than the keep-alive takes. */
  private static final int STEPS = 600;

  private static final int INTERVAL_MILLIS = 200;
  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void requireHosts() {
    HostScenario.requireHosts();
  }

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  /** Nothing comes back at all until the replica has given the connections up. */
  @Test
  void streamsShouldResumeAfterASilenceOfMinutes() throws Exception {
    HostScenario.run(testbed -> {
      FleetClients.Call call = open(testbed);
      Transcript heard = listen(call);
      Future<Transcript> running = start(call);
      try (NodeFixture sse = testbed.startSseServer()) {
        McpClient pinned = McpClient.at(testbed.replica(0).url("/servers/sse/mcp")).ready();
        FrameStream lost = pinned.stream(ToolRequest.count(1, 5000, 100));
        assertThat(lost.event().data()).contains("progress");
        assertThat(connections(testbed, sse)).isGreaterThanOrEqualTo(3);

        cutOffServer(testbed);
        long cut = System.nanoTime();
        await()
            .atMost(MINUTES)
            .pollInterval(Duration.ofMillis(200))
            .until(() -> connections(testbed, sse) == 0);
        System.out.printf("given up after %.1f s%n", (System.nanoTime() - cut) / 1e9);

        // This session is lost with its connection.
        List<Frame.Event> end = lost.events();
        assertThat(end.getLast().data()).contains("\"id\":1", "\"error\"", "outcome");
        assertThat(pinned.post(LIST).statusCode()).isEqualTo(404);
        testbed.heal();
        assertGoesOn(heard);
        assertWhole(running.get(), STEPS, testbed.output());
      }
    });
  }

  /** The server has closed its end, and the replica has not heard of it. */
  @Test
  void streamsShouldResumeAfterAResetThatVanished() throws Exception {
    HostScenario.run(testbed -> {
      FleetClients.Call call = open(testbed);
      Transcript heard = listen(call);
      Future<Transcript> running = start(call);

      int open = testbed.connectionsAtServer(0);
      cutOffServer(testbed);
      testbed.server().be(ServerFault.TORN);
      // Idle ones stay, since the server does not hear of their end either.
      await().atMost(MINUTES).until(() -> testbed.connectionsAtServer(0) <= open - 2);
      testbed.server().be(ServerFault.NONE);
      testbed.heal();
      assertGoesOn(heard);
      assertWhole(running.get(), STEPS, testbed.output());
    });
  }

  private FleetClients.Call open(FaultTestbed testbed) throws Exception {
    String request = ToolRequest.count(1, STEPS, INTERVAL_MILLIS);
    return clients.open(1, testbed.replica(0).url(), request);
  }

  private Transcript listen(FleetClients.Call call) {
    Transcript heard = clients.listen(call.client());
    await().until(() -> heard.progress().size() > 2);
    return heard;
  }

  private Future<Transcript> start(FleetClients.Call call) {
    return clients
        .start(
            List.of(call),
            each -> {
              each.begin(_ -> false);
              each.resume();
            })
        .getFirst();
  }

  private static void cutOffServer(FaultTestbed testbed) {
    testbed.cutBothWays(List.of(NetworkHost.REPLICA_0), List.of(NetworkHost.SERVER));
  }

  /** What replica 0 takes for open. */
  private static int connections(FaultTestbed testbed, NodeFixture sse) {
    return testbed.connectionsToServer(0, testbed.server().url().getPort())
        + testbed.connectionsToServer(0, sse.port());
  }
}

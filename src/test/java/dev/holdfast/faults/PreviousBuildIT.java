package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static dev.holdfast.faults.FleetClients.count;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.PackagedProgram;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Replicas of this build and of the previous one work together on one Redis. {@code
 * -Dholdfast.previous=…/quarkus-run.jar} names the previous build; without it these tests are
 * skipped, and {@link dev.holdfast.resume.RecordedLayoutIT} alone compares the versions.
 */
@Timeout(180)
@Tag("alone")
@EnabledIfSystemProperty(named = "holdfast.previous", matches = ".+")
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class PreviousBuildIT {

  private static final List<Path> BUILDS =
      List.of(
          PackagedProgram.PROGRAM,
          Path.of(System.getProperty("holdfast.previous", "")).toAbsolutePath());

  /** Replicas of the fleet, and indexes of the builds. */
  private static final int THIS = 0;

  private static final int PREVIOUS = 1;

  private static final int STEPS = 40;
  private static final int CALLS = 10;
  private static final int STOPPED_SECONDS = 40;

  private static Fleet fleet;

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void start() {
    fleet = new Fleet(2);
    fleet.replica(PREVIOUS).kill();
    fleet.restart(PREVIOUS, BUILDS.get(PREVIOUS));
  }

  @AfterAll
  static void stop() {
    fleet.close();
    FaultTestbed.closeLast();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {THIS, PREVIOUS})
  void shouldResumeCallsOnTheOtherBuild(int owner) throws Exception {
    List<Future<Transcript>> calls =
        clients.start(
            clients.open(fleet, CALLS, STEPS),
            call -> {
              call.at(fleet.url(owner)).begin(seen -> seen.progress().size() >= 3);
              call.at(fleet.url(1 - owner)).resume();
            });

    for (Future<Transcript> call : calls) {
      assertWhole(call.get(), STEPS, fleet);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {THIS, PREVIOUS})
  void shouldCancelACallThatTheOtherBuildRuns(int owner) throws Exception {
    FollowingClient client = clients.open(fleet.urls());
    Transcript call = new Transcript();
    client
        .at(List.of(fleet.url(owner)))
        .begin(count(7, 600), clients.random(), call, seen -> seen.progress().size() >= 3);

    int status =
        client
            .at(List.of(fleet.url(1 - owner)))
            .send(
                """
                {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\
                """,
                clients.random());

    assertThat(status).isEqualTo(202);
    await().until(() -> !fleet.isOpen(client, call));
  }

  @ParameterizedTest
  @ValueSource(ints = {THIS, PREVIOUS})
  void shouldTakeOverCallsOfTheOtherBuild(int owner) throws Exception {
    List<Future<Transcript>> calls =
        clients.start(
            clients.open(fleet, CALLS, STEPS),
            call -> {
              call.at(fleet.url(owner)).begin(_ -> false);
              call.resume();
            });
    fleet.replica(owner).kill();

    for (Future<Transcript> call : calls) {
      assertWhole(call.get(), STEPS, fleet);
    }
    fleet.restart(owner, BUILDS.get(owner));
    await().until(() -> fleet.isReady(owner));
  }

  /** Nobody but the replica that stops can bring these calls to their end. */
  @Test
  void downgradeAndUpgradeShouldGoUnnoticed() throws Exception {
    Schedule schedule = new Schedule(1);
    for (int i = 0; i < 2 * FaultTestbed.REPLICAS; i++) {
      int build = i < FaultTestbed.REPLICAS ? PREVIOUS : THIS;
      replace(schedule, i % FaultTestbed.REPLICAS, build);
    }
    ScenarioRun.of(Scenario.of("rolling upgrade", schedule).withoutIds().withProbes());
  }

  private static void replace(Schedule schedule, int replica, int build) {
    schedule.endAt(
        1000,
        "SIGTERM to replica " + replica + ", and start build " + build,
        testbed -> {
          testbed.replica(replica).terminate();
          assertThat(testbed.replica(replica).awaitEnd(STOPPED_SECONDS)).as("stopped").isTrue();
          testbed.restart(replica, BUILDS.get(build));
          testbed.awaitReady(replica);
        });
  }

  @Test
  void killsAmongBothBuildsShouldLoseNothing() throws Exception {
    Schedule schedule = new Schedule(2);
    for (int i = 0; i < 2 * FaultTestbed.REPLICAS; i++) {
      int replica = i % FaultTestbed.REPLICAS;
      int build = (i + 1) % BUILDS.size();
      schedule.endAt(
          1000 + i * 3000L,
          "kill -9 replica " + replica + ", and start build " + build,
          testbed -> {
            testbed.replica(replica).kill();
            testbed.restart(replica, BUILDS.get(build));
          });
    }
    ScenarioRun.of(Scenario.of("replica killed, two builds", schedule).silentFor(8));
  }
}

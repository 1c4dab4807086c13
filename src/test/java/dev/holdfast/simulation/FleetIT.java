package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.RedisProxy;
import dev.holdfast.wiring.FleetReplica;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The short form of {@link FleetSimulation}: judged by counts, whatever the time. */
@Tag("alone")
@Timeout(120)
class FleetIT {

  private static final int REPLICAS = 60;
  private static final int CALLS = 10;
  private static final Fleet.Timing TIMING =
      new Fleet.Timing(Duration.ofMillis(200), Duration.ofSeconds(2));

  private final Fleet fleet = new Fleet(TIMING, Duration.ofSeconds(1));

  @AfterEach
  void close() {
    fleet.close();
  }

  /** All survivors notice the losses at once. They must not all try to adopt the same sessions. */
  @Test
  void shouldAdoptEachStreamOfManyLostReplicasOnce() throws Exception {
    int lost = REPLICAS / 10;
    fleet.start(REPLICAS, fleet.redis::url);
    fleet.openCalls(CALLS);
    List<FleetReplica> survivors = fleet.living.subList(lost, REPLICAS);
    long before = survivors.stream().mapToLong(each -> each.recorded.get()).sum();

    fleet.vanish(lost);
    Fleet.await(fleet::isWhole);

    assertThat(fleet.adopted()).isGreaterThanOrEqualTo((long) lost * CALLS);
    // With a margin for a machine so busy that a living replica is silent.
    assertThat(fleet.recorded() - before).isLessThan(2 * fleet.adopted());
    assertThat(fleet.fenced()).isEmpty();
  }

  /** The replicas that were cut off still have writers, which Redis must refuse. */
  @Test
  void shouldHaveOneWriterForEachStreamAfterAZoneReturns() throws Exception {
    int zone = REPLICAS / 3;
    try (RedisProxy network = new RedisProxy(fleet.redis.port())) {
      fleet.start(zone, network::url);
      List<FleetReplica> cut = List.copyOf(fleet.living);
      fleet.start(REPLICAS - zone, fleet.redis::url);
      fleet.openCalls(CALLS);

      network.cut();
      fleet.living.removeAll(cut);
      Fleet.await(fleet::isWhole);
      fleet.living.addAll(cut);
      assertThat(fleet.isWhole()).isFalse();
      network.mend();

      Fleet.await(fleet::isWhole);
      assertThat(fleet.fenced()).isEmpty();
    }
  }
}

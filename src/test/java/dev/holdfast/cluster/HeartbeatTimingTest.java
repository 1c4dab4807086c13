package dev.holdfast.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HeartbeatTimingTest {

  @Test
  void shouldRefuseADeadlineThatOneLateBeatWouldMiss() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HeartbeatTiming(Duration.ofSeconds(2), Duration.ofSeconds(3)))
        .withMessage(
            "holdfast.cluster.dead-after (3000 ms) must be at least twice"
                + " holdfast.cluster.heartbeat (2000 ms)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HeartbeatTiming(Duration.ZERO, Duration.ofSeconds(3)));
  }

  @Test
  void shouldTakeTwoBeats() {
    assertThat(new HeartbeatTiming(Duration.ofSeconds(1), Duration.ofSeconds(2)).deadAfter())
        .isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void shouldRefuseAReplicaWhoseNameCannotBePartOfAKey() {
    assertThatIllegalArgumentException().isThrownBy(() -> new ReplicaId("a b"));
    assertThatIllegalArgumentException().isThrownBy(() -> new ReplicaId(""));
    assertThat(ReplicaId.random()).isNotEqualTo(ReplicaId.random());
  }
}

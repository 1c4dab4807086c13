package dev.holdfast.cluster;

import java.time.Duration;

/**
 * The beat that replicas keep.
 *
 * @param heartbeat from one beat to the next
 * @param deadAfter a replica that was silent for so long is lost
 */
public record HeartbeatTiming(Duration heartbeat, Duration deadAfter) {

  /**
   * @throws IllegalArgumentException when one late beat would make a replica count as lost
   */
  public HeartbeatTiming {
    if (!heartbeat.isPositive()) {
      throw new IllegalArgumentException("holdfast.cluster.heartbeat must be positive");
    }
    if (deadAfter.compareTo(heartbeat.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          "holdfast.cluster.dead-after ("
              + deadAfter.toMillis()
              + " ms) must be at least twice holdfast.cluster.heartbeat ("
              + heartbeat.toMillis()
              + " ms)");
    }
  }

  /** As configured. */
  public static HeartbeatTiming of(ClusterConfig config) {
    return new HeartbeatTiming(config.heartbeat(), config.deadAfter());
  }
}

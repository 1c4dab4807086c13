package dev.holdfast.cluster;

import java.time.Duration;

/**
 * The timing of heartbeats, the same on all replicas.
 *
 * @param heartbeat time between heartbeats
 * @param deadAfter a replica without a heartbeat for this time is lost
 */
public record HeartbeatTiming(Duration heartbeat, Duration deadAfter) {

  /**
   * @throws IllegalArgumentException when one late heartbeat would make a replica lost
   */
  public HeartbeatTiming {
    if (!heartbeat.isPositive()) {
      throw new IllegalArgumentException("holdfast.cluster.heartbeat must be positive");
    }
    if (deadAfter.compareTo(heartbeat.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          ("holdfast.cluster.dead-after (%d ms) must be at least twice"
                  + " holdfast.cluster.heartbeat (%d ms)")
              .formatted(deadAfter.toMillis(), heartbeat.toMillis()));
    }
  }

  /** The configured timing. */
  public static HeartbeatTiming of(ClusterConfig config) {
    return new HeartbeatTiming(config.heartbeat(), config.deadAfter());
  }
}

package dev.holdfast.cluster;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** How replicas notice that one of them is lost. */
@ConfigMapping(prefix = "holdfast.cluster")
public interface ClusterConfig {

  /** Time between the heartbeats of a replica. 50 ms to one minute. */
  @WithDefault("1s")
  @DurationMin(millis = 50)
  @DurationMax(minutes = 1)
  Duration heartbeat();

  /**
   * A replica without a heartbeat for this time is lost, and others adopt its streams. At least
   * twice the heartbeat; up to ten minutes.
   */
  @WithDefault("3s")
  @DurationMin(millis = 100)
  @DurationMax(minutes = 10)
  Duration deadAfter();
}

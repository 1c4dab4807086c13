package dev.holdfast.cluster;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Times after which replicas notice that one of them is lost. */
@ConfigMapping(prefix = "holdfast.cluster")
public interface ClusterConfig {

  /** Time between the heartbeats of a replica. 50 ms to one minute. */
  @WithDefault("1s")
  @Range(min = "50ms", max = "1m")
  Duration heartbeat();

  /**
   * A replica without a heartbeat for this time is lost, and others adopt its streams. At least
   * twice the heartbeat; up to ten minutes.
   */
  @WithDefault("3s")
  @Range(min = "100ms", max = "10m")
  Duration deadAfter();
}

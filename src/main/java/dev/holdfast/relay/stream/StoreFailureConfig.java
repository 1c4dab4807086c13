package dev.holdfast.relay.stream;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Treatment of events while the store is away. */
@ConfigMapping(prefix = "holdfast.store-failure")
public interface StoreFailureConfig {

  /**
   * Time for which events wait for the store. After that they go, without ids, to the client that
   * follows their stream on this replica. Later readers find a gap in their place. 100 ms to ten
   * minutes.
   */
  @WithDefault("5s")
  @Range(min = "100ms", max = "10m")
  Duration hold();
}

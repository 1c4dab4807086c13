package dev.holdfast.relay.stream;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** What happens to events that the store does not take. */
@ConfigMapping(prefix = "holdfast.store-failure")
public interface StoreFailureConfig {

  /**
   * How long events wait while the store is away. After that they go to the client that follows
   * their stream on this replica, without ids; a later reader finds a gap in their place. 100 ms to
   * ten minutes.
   */
  @WithDefault("5s")
  @DurationMin(millis = 100)
  @DurationMax(minutes = 10)
  Duration hold();
}

package dev.holdfast.session;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** How long sessions live. */
@ConfigMapping(prefix = "holdfast.session")
public interface SessionConfig {

  /**
   * A session ends when no client uses it or listens to it for this time. One second to thirty
   * days.
   */
  @WithDefault("1h")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration idleTimeout();
}

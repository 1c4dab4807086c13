package dev.holdfast.session;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** How long sessions live. */
@ConfigMapping(prefix = "holdfast.session")
public interface SessionConfig {

  /**
   * A session ends when no client uses it or listens to it for this time. One second to thirty
   * days.
   */
  @WithDefault("1h")
  @Range(min = "1s", max = "30d")
  Duration idleTimeout();
}

package dev.holdfast.session;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Lifetimes of sessions. */
@ConfigMapping(prefix = "holdfast.session")
public interface SessionConfig {

  /**
   * A session ends when no client uses it or listens to it for this time. One second to thirty
   * days.
   */
  @WithDefault("1h")
  @Range(min = "1s", max = "30d")
  Duration idleTimeout();

  /**
   * A session that takes one of few places, such as a process of a server over stdio, ends when no
   * client is connected to it and no request is open for this time. 30 seconds to thirty days. The
   * idle timeout holds once the client has resumed a stream.
   */
  @WithDefault("5m")
  @Range(min = "30s", max = "30d")
  Duration abandonedTimeout();
}

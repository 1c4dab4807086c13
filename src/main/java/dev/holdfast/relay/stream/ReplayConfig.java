package dev.holdfast.relay.stream;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Events that a client receives when it resumes a stream. */
@ConfigMapping(prefix = "holdfast.replay")
public interface ReplayConfig {

  /**
   * Returns true if clients can resume streams. If not, events have no ids and {@code
   * Last-Event-ID} is ignored.
   */
  @WithDefault("true")
  boolean enabled();

  /**
   * Of a stream that answers no request, a cursor older than this is treated as purged if events
   * follow it. One second to thirty days.
   */
  @WithDefault("24h")
  @Range(min = "1s", max = "30d")
  Duration window();

  /**
   * Reaction when events after the client's cursor were purged from a stream that answers no
   * request. Other streams continue while their result can still come.
   */
  @WithDefault("error")
  OnGap onGap();

  /** Reaction to a client that asks for purged events. */
  enum OnGap {
    /** The gateway answers 410 and names the oldest event that it has. */
    ERROR,
    /** A comment names the gap, and replay continues from the oldest event in the log. */
    CONTINUE
  }
}

package dev.holdfast.relay.stream;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** What a client that comes back is given. */
@ConfigMapping(prefix = "holdfast.replay")
public interface ReplayConfig {

  /**
   * Whether streams can be resumed. When not, events carry no ids and {@code Last-Event-ID} is
   * ignored.
   */
  @WithDefault("true")
  boolean enabled();

  /** A cursor older than this counts as purged. One second to thirty days. */
  @WithDefault("24h")
  @DurationMin(seconds = 1)
  @DurationMax(days = 30)
  Duration window();

  /** What happens when events after the client's cursor are gone. */
  @WithDefault("error")
  OnGap onGap();

  /** What happens at a gap. */
  enum OnGap {
    /** The client is refused with 410 and told what is still there. */
    ERROR,
    /** A comment names the gap, and replay goes on from the oldest event that is kept. */
    CONTINUE
  }
}

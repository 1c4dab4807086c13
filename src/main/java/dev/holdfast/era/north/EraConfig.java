package dev.holdfast.era.north;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** What clients of revision 2026-07-28 get, which has no sessions. */
@ConfigMapping(prefix = "holdfast.eras")
public interface EraConfig {

  /**
   * Time for which a call waits for the answer of its client to a request of the server. One second
   * to one day.
   */
  @WithDefault("10m")
  @Range(min = "1s", max = "1d")
  Duration answerTimeout();

  /**
   * Whether clients that the gateway does not know by name share a session of a server that keeps
   * sessions. If not, each of their requests gets its own.
   */
  @WithDefault("false")
  boolean shareAnonymousSessions();
}

package dev.holdfast.held;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import java.time.Duration;
import java.util.Optional;

/** Calls that run for longer than their clients wait. */
@ConfigMapping(prefix = "holdfast.calls")
public interface HeldConfig {

  /**
   * Time after which a call that still runs is answered with a handle. One second to one hour.
   * Calls are never answered early without it.
   */
  @Range(min = "1s", max = "1h")
  Optional<Duration> holdAfter();

  /**
   * Text of such an answer, for the model that reads it. {@code {tool}} and {@code {handle}} stand
   * for the name of the tool and the handle.
   */
  Optional<String> heldText();
}

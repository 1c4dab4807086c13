package dev.holdfast.held;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

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
   * Time since the start of a call in which a client that repeats it joins it, if it got no result.
   * Up to one hour; zero for never.
   */
  @Range(min = "0s", max = "1h")
  @WithDefault("0s")
  Duration attachWindow();

  /**
   * Text of such an answer, for the model that reads it. {@code {tool}} and {@code {handle}} stand
   * for the name of the tool and the handle.
   */
  Optional<String> heldText();

  /**
   * Time after which a call that still runs becomes a task, if its client knows the extension
   * {@code io.modelcontextprotocol/tasks}. 100 milliseconds to one hour. Never without it.
   */
  @Range(min = "100ms", max = "1h")
  Optional<Duration> taskAfter();

  /**
   * Name of the tool that returns results. The server has no tool of that name, and no other
   * gateway before it that holds calls.
   */
  @WithDefault("wait_for_result")
  @WithConverter(ToolName.class)
  String tool();

  /**
   * Access to the messages of a durable call at {@code /calls/<handle>/stream}. The response to the
   * call then has the handle in a header.
   */
  @WithDefault("false")
  boolean follow();

  /** Reads the name of a tool (MCP 2025-11-25, Tools, Tool Names). */
  final class ToolName implements Converter<String> {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,128}");

    @Override
    public String convert(String text) {
      if (!NAME.matcher(text).matches()) {
        throw new IllegalArgumentException("must be 1 to 128 of A-Z a-z 0-9 _ . -, not " + text);
      }
      return text;
    }
  }
}

package dev.holdfast.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Levels of log messages, the least severe first (RFC 5424). */
public final class LogLevels {

  /** The level of a client that has set none. */
  public static final String DEFAULT = "info";

  private static final List<String> ALL =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private LogLevels() {}

  /** Returns true if there is such a level. */
  public static boolean isKnown(@Nullable String level) {
    return severity(level) >= 0;
  }

  /** The severity, from 0; -1 if there is no such level. */
  public static int severity(@Nullable String level) {
    return level == null ? -1 : ALL.indexOf(level);
  }
}

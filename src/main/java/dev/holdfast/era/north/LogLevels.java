package dev.holdfast.era.north;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Levels of log messages, the least severe first (RFC 5424). */
final class LogLevels {

  private static final List<String> ALL =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private LogLevels() {}

  /** Returns the level; empty if it is unknown. */
  static String known(String level) {
    return ALL.contains(level) ? level : "";
  }

  /** Returns true if a message of a level goes to a client that wants another level. */
  static boolean isWanted(@Nullable String level, String wanted) {
    return !wanted.isEmpty() && ALL.indexOf(level) >= ALL.indexOf(wanted);
  }

  /** The severity, from 0; the number of levels if there is none. */
  static int severity(String level) {
    int index = ALL.indexOf(level);
    return index < 0 ? ALL.size() : index;
  }
}

package dev.holdfast.upstream.local;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Severity of a log message, lowest first.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#log-levels">MCP
 *     2025-11-25, Logging, Log Levels</a>
 */
public enum LogLevel {
  /** Details for debugging. */
  DEBUG,
  /** Normal operation. */
  INFO,
  /** Normal but significant. */
  NOTICE,
  /** A condition that may become an error. */
  WARNING,
  /** An operation failed. */
  ERROR,
  /** A component failed. */
  CRITICAL,
  /** A person must act at once. */
  ALERT,
  /** The system is unusable. */
  EMERGENCY;

  /** The level of a session whose client has set none. */
  public static final LogLevel DEFAULT = INFO;

  private final String wire = name().toLowerCase(Locale.ROOT);

  /** Returns the name on the wire. */
  public String wire() {
    return wire;
  }

  /** Returns the level with exactly this name on the wire; empty if there is none. */
  public static Optional<LogLevel> parse(String wire) {
    return Arrays.stream(values()).filter(level -> level.wire.equals(wire)).findFirst();
  }
}

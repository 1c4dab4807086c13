package dev.holdfast.upstream.local;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * How grave a log message is, lightest first.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#log-levels">MCP
 *     2025-11-25, Logging, Log Levels</a>
 */
public enum LogLevel {
  /** For whoever looks for a fault. */
  DEBUG,
  /** Goes as it should. */
  INFO,
  /** Goes as it should, but is worth a look. */
  NOTICE,
  /** May become an error. */
  WARNING,
  /** Something failed. */
  ERROR,
  /** A part is out of order. */
  CRITICAL,
  /** Somebody must act at once. */
  ALERT,
  /** Nothing works. */
  EMERGENCY;

  /** What a session gets as long as its client has set no level. */
  static final LogLevel DEFAULT = INFO;

  private final String wire = name().toLowerCase(Locale.ROOT);

  /** The name on the wire. */
  public String wire() {
    return wire;
  }

  /** The level of that name; empty if there is none. Matches exactly. */
  public static Optional<LogLevel> parse(String wire) {
    return Arrays.stream(values()).filter(level -> level.wire.equals(wire)).findFirst();
  }
}

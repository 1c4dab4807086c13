package dev.holdfast.protocol;

import java.util.List;
import java.util.Optional;

/** The supported revisions of MCP, oldest first, and the rules in which they differ. */
public enum ProtocolVersion {
  /** HTTP with a separate SSE endpoint. */
  V2024_11_05("2024-11-05"),
  /** Streamable HTTP, with batches. */
  V2025_03_26("2025-03-26"),
  /** Without batches. Requests name the version in a header. */
  V2025_06_18("2025-06-18"),
  /** Streams begin with a priming event, which has an id and empty data. */
  V2025_11_25("2025-11-25"),
  /** Without sessions: each request names its revision and its client. */
  V2026_07_28("2026-07-28");

  /** The newest revision with sessions. */
  public static final ProtocolVersion NEWEST_WITH_SESSIONS = V2025_11_25;

  private static final List<ProtocolVersion> ALL = List.of(values());

  private final String wire;

  ProtocolVersion(String wire) {
    this.wire = wire;
  }

  /** Returns the date that names this revision on the wire. */
  public String wire() {
    return wire;
  }

  /** Returns the names of those revisions that have sessions, or of those that have none. */
  public static List<String> names(boolean withSessions) {
    return ALL.stream()
        .filter(version -> version.hasSessions() == withSessions)
        .map(ProtocolVersion::wire)
        .toList();
  }

  /** Returns true if a client opens a session with {@code initialize}. */
  public boolean hasSessions() {
    return compareTo(NEWEST_WITH_SESSIONS) <= 0;
  }

  /** Returns the revision of exactly that name, if it has sessions; else empty. */
  public static Optional<ProtocolVersion> parseWithSessions(String wire) {
    return parse(wire).filter(ProtocolVersion::hasSessions);
  }

  /** Returns the revision of exactly that name; empty if it is not supported. */
  public static Optional<ProtocolVersion> parse(String wire) {
    for (ProtocolVersion version : ALL) {
      if (version.wire.equals(wire)) {
        return Optional.of(version);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns whether a body may be a batch: added by 2025-03-26, removed by 2025-06-18.
   *
   * @see <a href="https://modelcontextprotocol.io/specification/2025-03-26/basic#batching">MCP
   *     2025-03-26, Batching</a>
   */
  public boolean hasBatches() {
    return this == V2025_03_26;
  }

  /**
   * Returns whether a stream begins with a priming event. Older clients parse its empty data as
   * JSON and fail.
   *
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server">MCP
   *     2025-11-25, Sending Messages to the Server</a>
   */
  public boolean hasPriming() {
    return compareTo(V2025_11_25) >= 0;
  }
}

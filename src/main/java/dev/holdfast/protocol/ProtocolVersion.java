package dev.holdfast.protocol;

import java.util.Arrays;
import java.util.Optional;

/** The revisions of MCP that this gateway speaks, oldest first, and the rules that differ. */
public enum ProtocolVersion {
  /** HTTP with a separate SSE endpoint. */
  V2024_11_05("2024-11-05"),
  /** Streamable HTTP, with batches. */
  V2025_03_26("2025-03-26"),
  /** Without batches; the version travels in a header. */
  V2025_06_18("2025-06-18"),
  /** Streams begin with an event that only carries an id. */
  V2025_11_25("2025-11-25");

  /**
   * What a request after {@code initialize} speaks if it has no {@code MCP-Protocol-Version} header
   * and nothing else tells: "the server SHOULD assume protocol version 2025-03-26".
   *
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header">MCP
   *     2025-11-25, Transports, Protocol Version Header</a>
   */
  public static final ProtocolVersion DEFAULT_WHEN_ABSENT = V2025_03_26;

  private final String wire;

  ProtocolVersion(String wire) {
    this.wire = wire;
  }

  /** Returns the date that names this revision on the wire. */
  public String wire() {
    return wire;
  }

  /** Returns the revision of that name; empty if it is none that we speak. Matches exactly. */
  public static Optional<ProtocolVersion> parse(String wire) {
    return Arrays.stream(values()).filter(version -> version.wire.equals(wire)).findFirst();
  }

  /** Returns whether this revision is {@code other} or newer. */
  public boolean isAtLeast(ProtocolVersion other) {
    return compareTo(other) >= 0;
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
   * Returns whether a stream should begin with an event that has an id and empty data. Older
   * clients take the empty data for JSON and fail.
   *
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server">MCP
   *     2025-11-25, Sending Messages to the Server</a>
   */
  public boolean hasPriming() {
    return isAtLeast(V2025_11_25);
  }

  /**
   * Returns whether clients send {@code MCP-Protocol-Version} with every request after {@code
   * initialize}.
   *
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#protocol-version-header">MCP
   *     2025-06-18, Protocol Version Header</a>
   */
  public boolean hasVersionHeader() {
    return isAtLeast(V2025_06_18);
  }
}

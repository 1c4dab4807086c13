package dev.holdfast.protocol;

/** Header names of the MCP transport and of proxies in front of it. */
public final class McpHeaders {

  public static final String SESSION_ID = "Mcp-Session-Id";
  public static final String PROTOCOL_VERSION = "MCP-Protocol-Version";
  public static final String LAST_EVENT_ID = "Last-Event-ID";

  /** Tells nginx not to collect a stream before it passes it on. */
  public static final String ACCEL_BUFFERING = "X-Accel-Buffering";

  private McpHeaders() {}
}

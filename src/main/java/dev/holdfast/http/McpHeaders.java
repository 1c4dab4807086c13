package dev.holdfast.http;

/** Header names of the MCP transport and of proxies in front of it. */
final class McpHeaders {

  static final String SESSION_ID = "Mcp-Session-Id";
  static final String PROTOCOL_VERSION = "MCP-Protocol-Version";
  static final String LAST_EVENT_ID = "Last-Event-ID";

  /** Tells nginx not to collect a stream before it passes it on. */
  static final String ACCEL_BUFFERING = "X-Accel-Buffering";

  private McpHeaders() {}
}

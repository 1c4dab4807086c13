package dev.holdfast.protocol;

/** Header names of the MCP transports over HTTP. */
public final class McpHeaders {

  /** Names the session of a request, or the session that a response opens. */
  public static final String SESSION_ID = "Mcp-Session-Id";

  /** Names the protocol revision of the session. */
  public static final String PROTOCOL_VERSION = "MCP-Protocol-Version";

  /** Names the last event that the client has received (HTML, Server-sent events). */
  public static final String LAST_EVENT_ID = "Last-Event-ID";

  /** Names the method of a request (2026-07-28). */
  public static final String METHOD = "Mcp-Method";

  /** Names the tool, prompt, resource or task of a request (2026-07-28). */
  public static final String NAME = "Mcp-Name";

  /** Prefix of headers with arguments of a tool call (2026-07-28), in lower case. */
  public static final String PARAMETER = "mcp-param-";

  private McpHeaders() {}
}

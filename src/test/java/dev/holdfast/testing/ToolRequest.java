package dev.holdfast.testing;

/** The call of a tool, as a client sends it. */
public final class ToolRequest {

  private ToolRequest() {}

  /**
   * A request whose progress has its id for a token.
   *
   * @param arguments as JSON
   */
  public static String of(int id, String tool, String arguments) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,\
    "_meta":{"progressToken":%d}}}\
    """
        .formatted(id, tool, arguments, id);
  }

  /** The same without a session (2026-07-28). */
  public static String stateless(int id, String tool, String arguments) {
    return of(id, tool, arguments)
        .replace(
            "\"_meta\":{",
            "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                + "\"io.modelcontextprotocol/clientCapabilities\":{},");
  }

  /** A request that makes the server count, with one progress notification per step. */
  public static String count(int id, int steps, int intervalMillis) {
    return of(id, "count", "{\"n\":%d,\"intervalMs\":%d}".formatted(steps, intervalMillis));
  }

  /** A request that makes the server send a notification to its standalone stream. */
  public static String announce(int id, String text) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"announce",\
    "arguments":{"text":"%s"}}}\
    """
        .formatted(id, text);
  }
}

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
}

package dev.holdfast.testing;

import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client that may repeat a call. Each call has a connection of its own.
 *
 * @param headers of each call
 * @param hasSession whether it is of a revision with sessions
 */
public record RepeatingClient(URI url, Map<String, String> headers, boolean hasSession) {

  private static final Pattern SESSION = Pattern.compile("(?i)mcp-session-id: (\\S+)");
  private static final String VERSION = "2025-11-25";

  /**
   * Opens a session.
   *
   * @param key its access key; empty for none
   */
  public static RepeatingClient withSession(URI url, String key) throws IOException {
    Map<String, String> headers = new HashMap<>(authorization(key));
    String initialize =
        """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s",\
        "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
        """
            .formatted(VERSION);
    try (CuttableRequest request = CuttableRequest.post(url, headers, initialize)) {
      Matcher session = SESSION.matcher(request.response());
      if (!session.find()) {
        throw new IOException("no session: " + request.received());
      }
      headers.put("Mcp-Session-Id", session.group(1));
    }
    headers.put("MCP-Protocol-Version", VERSION);
    return new RepeatingClient(url, headers, true);
  }

  /** Needs no session. */
  public static RepeatingClient withoutSession(URI url, String key) {
    Map<String, String> headers = new HashMap<>(authorization(key));
    headers.put("MCP-Protocol-Version", StatelessClient.VERSION);
    headers.put("Mcp-Method", "tools/call");
    return new RepeatingClient(url, headers, false);
  }

  private static Map<String, String> authorization(String key) {
    return key.isEmpty() ? Map.of() : Map.of("Authorization", "Bearer " + key);
  }

  /** The same client at another replica. */
  public RepeatingClient elsewhere(URI other) {
    return new RepeatingClient(other, headers, hasSession);
  }

  /** Calls a tool. The progress token is the id. */
  public CuttableRequest call(int id, String tool, String arguments) throws IOException {
    Map<String, String> all = new HashMap<>(headers);
    String meta = "\"progressToken\":" + id;
    if (!hasSession) {
      all.put("Mcp-Name", tool);
      String name = "\"io.modelcontextprotocol/";
      meta +=
          ","
              + name
              + "protocolVersion\":\""
              + StatelessClient.VERSION
              + "\","
              + name
              + "clientCapabilities\":{},"
              + name
              + "clientInfo\":{\"name\":\"test\",\"version\":\"1\"},"
              + name
              + "logLevel\":\"info\"";
    }
    return CuttableRequest.post(
        url,
        all,
        """
        {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":\
        {"_meta":{%s},"name":"%s","arguments":%s}}\
        """
            .formatted(id, meta, tool, arguments));
  }
}

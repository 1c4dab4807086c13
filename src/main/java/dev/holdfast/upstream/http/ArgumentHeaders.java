package dev.holdfast.upstream.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Principal;
import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.ArgumentPaths;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Headers that tools want for some of their arguments ({@code x-mcp-header}, 2026-07-28). They
 * stand in the list of tools, which may differ between principals. Thread-safe.
 */
final class ArgumentHeaders {

  private static final int MAX_PRINCIPALS = 256;
  private static final int MAX_PAGES = 20;
  private static final int MAX_TOOLS = 500;
  private static final int MAX_HEADERS = 64;
  private static final Duration VALID = Duration.ofMinutes(5);

  private final Map<Principal, Listed> byPrincipal = LruMap.create(MAX_PRINCIPALS);

  /** Tools with such arguments: the path of each argument, by the name of its header. */
  private record Listed(Map<String, Map<String, List<String>>> tools, Deadline until) {}

  /** Forgets the tools of a principal: their headers did not suit the server. */
  void forget(Principal principal) {
    byPrincipal.remove(principal);
  }

  /**
   * Returns the headers of a tool call.
   *
   * @param list sends {@code tools/list} and returns the response; null if there is none
   */
  Map<String, String> of(
      Principal principal, Message.Request call, Function<byte[], byte @Nullable []> list) {
    Listed listed = byPrincipal.get(principal);
    if (listed == null || listed.until().hasPassed()) {
      listed = new Listed(list(call, list), Deadline.after(VALID));
      byPrincipal.put(principal, listed);
    }
    Map<String, String> headers = new HashMap<>();
    listed
        .tools()
        .getOrDefault(String.valueOf(call.toolName()), Map.of())
        .forEach((header, path) -> {
          String json = JsonEdit.raw(call.bytes(), path.toArray(String[]::new));
          String text = JsonEdit.text(json);
          if (text != null) {
            headers.put(McpHeaders.PARAMETER + header, HeaderValues.encode(text));
          } else if (json != null && !json.matches("(?s)null|[\\[{].*")) {
            headers.put(McpHeaders.PARAMETER + header, json);
          }
        });
    return headers;
  }

  private static Map<String, Map<String, List<String>>> list(
      Message.Request call, Function<byte[], byte @Nullable []> list) {
    Map<String, Map<String, List<String>>> tools = new HashMap<>();
    String meta = JsonEdit.raw(call.bytes(), "params", "_meta");
    String cursor = null;
    int page = 0;
    do {
      JsonEdit edit = new JsonEdit().remove("params", "_meta", "progressToken");
      if (cursor != null) {
        edit.set(cursor, "params", "cursor");
      }
      byte[] request =
          ("{\"jsonrpc\":\"2.0\",\"id\":\"headers\",\"method\":\"tools/list\",\"params\":{\"_meta\":"
                  + (meta == null ? "{}" : meta)
                  + "}}")
              .getBytes(UTF_8);
      byte[] response = list.apply(edit.apply(request));
      if (response == null) {
        return tools;
      }
      for (String tool : JsonEdit.elements(JsonEdit.raw(response, "result", "tools"))) {
        add(tool.getBytes(UTF_8), tools);
      }
      cursor = JsonEdit.raw(response, "result", "nextCursor");
      page++;
    } while (cursor != null && cursor.startsWith("\"") && page < MAX_PAGES);
    return tools;
  }

  private static void add(byte[] tool, Map<String, Map<String, List<String>>> tools) {
    String name = JsonEdit.text(JsonEdit.raw(tool, "name"));
    Map<String, List<String>> paths =
        ArgumentPaths.of(JsonEdit.raw(tool, "inputSchema")).orElse(Map.of());
    if (name != null
        && !paths.isEmpty()
        && paths.size() <= MAX_HEADERS
        && tools.size() < MAX_TOOLS) {
      tools.put(name, paths);
    }
  }
}

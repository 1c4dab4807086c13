package dev.holdfast.clients;

import dev.holdfast.testing.PublishedServers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A published MCP server of {@code src/test/servers}, and calls that it answers without a network.
 * Servers whose calls all go out get calls that they refuse.
 */
@SuppressWarnings("ImmutableEnumChecker") // The collections are copies.
enum RealServer {
  AIRTABLE(
      "airtable-mcp-server",
      "dist/main.js",
      16,
      List.of(),
      Map.of("AIRTABLE_API_KEY", "pat123.abc123"),
      new Call("list_tables", "{}")),
  CHROME_DEVTOOLS(
      "chrome-devtools-mcp",
      "build/src/bin/chrome-devtools-mcp.js",
      32,
      List.of(
          "--headless",
          "--isolated",
          "--executablePath=/nowhere/chrome",
          "--no-usage-statistics",
          "--no-performance-crux"),
      Map.of(),
      new Call("list_pages", "{}"),
      new Call("new_page", "{}")),
  CONTEXT7(
      "@upstash/context7-mcp",
      "dist/index.js",
      2,
      List.of(),
      Map.of(),
      new Call("resolve-library-id", "{}")),
  DESKTOP_COMMANDER(
      "@wonderwhy-er/desktop-commander",
      "dist/index.js",
      26,
      List.of(),
      Map.of("DESKTOP_COMMANDER_DISABLE_TELEMETRY", "1"),
      new Call("write_file", "{\"path\":\"DIRECTORY/note.txt\",\"content\":\"one\\ntwo\\n\"}"),
      new Call("read_file", "{\"path\":\"DIRECTORY/note.txt\"}"),
      new Call("list_searches", "{}")),
  EVERYTHING(
      "@modelcontextprotocol/server-everything",
      "dist/index.js",
      14,
      List.of("stdio"),
      Map.of(),
      new Call("echo", "{\"message\":\"Grüße \\u2028 😀\"}"),
      new Call("get-sum", "{\"a\":2,\"b\":0.5}"),
      new Call("get-structured-content", "{\"location\":\"New York\"}"),
      new Call("get-tiny-image", "{}"),
      new Call("get-annotated-message", "{\"messageType\":\"error\",\"includeImage\":true}"),
      new Call("get-resource-links", "{}"),
      new Call("get-resource-reference", "{}")
          .ignoring("/result/content/1/resource/text", "names the time of the call")),
  EXA(
      "exa-mcp-server",
      "dist/stdio.cjs",
      2,
      List.of(),
      Map.of("EXA_API_KEY", "none"),
      new Call("web_search_exa", "{}")),
  FIGMA(
      "figma-developer-mcp",
      "dist/bin.js",
      2,
      List.of("--stdio", "--figma-api-key=none"),
      Map.of("FRAMELINK_TELEMETRY", "off"),
      new Call("get_figma_data", "{\"fileKey\":\"../x\"}")),
  FILESYSTEM(
      "@modelcontextprotocol/server-filesystem",
      "dist/index.js",
      14,
      List.of("."),
      Map.of(),
      new Call("write_file", "{\"path\":\"note.txt\",\"content\":\"one\\ntwo\\n\"}"),
      new Call("read_text_file", "{\"path\":\"note.txt\"}"),
      new Call("directory_tree", "{\"path\":\".\"}"),
      new Call("read_text_file", "{\"path\":\"../../elsewhere\"}")),
  FIRECRAWL(
      "firecrawl-mcp",
      "dist/index.js",
      29,
      List.of(),
      Map.of("FIRECRAWL_API_KEY", "fc-none"),
      new Call("firecrawl_scrape", "{\"url\":\"no url\"}")),
  KUBERNETES(
      "mcp-server-kubernetes",
      "dist/index.js",
      23,
      List.of(),
      Map.of(),
      new Call("ping", "{}"),
      new Call("kubectl_context", "{\"operation\":\"list\"}"),
      new Call("stop_port_forward", "{\"id\":\"none\"}")),
  MEMORY(
      "@modelcontextprotocol/server-memory",
      "dist/index.js",
      9,
      List.of(),
      Map.of("MEMORY_FILE_PATH", "DIRECTORY/memory.jsonl"),
      new Call(
          "create_entities",
          "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"é\"]}]}"),
      new Call("read_graph", "{}")),
  MONGODB(
      "mongodb-mcp-server",
      "dist/esm/index.js",
      27,
      List.of("--telemetry", "disabled"),
      Map.of(),
      new Call("list-connections", "{}"),
      new Call("list-databases", "{\"connectionId\":\"none\"}")),
  NOTION(
      "@notionhq/notion-mcp-server",
      "bin/cli.mjs",
      24,
      List.of(),
      Map.of("NOTION_TOKEN", "ntn_none")),
  PLAYWRIGHT(
      "@playwright/mcp",
      "cli.js",
      25,
      List.of("--headless", "--isolated", "--executable-path=/nowhere/chrome"),
      Map.of(),
      new Call("browser_navigate", "{\"url\":\"about:blank\"}")),
  SENTRY(
      "@sentry/mcp-server",
      "dist/index.js",
      9,
      List.of("--access-token=none"),
      Map.of(),
      new Call("search_sentry_tools", "{\"query\":\"issue\"}"),
      new Call("search_events", "{}")),
  SEQUENTIAL_THINKING(
      "@modelcontextprotocol/server-sequential-thinking",
      "dist/index.js",
      1,
      List.of(),
      Map.of(),
      new Call(
          "sequentialthinking",
          "{\"thought\":\"a\",\"nextThoughtNeeded\":true,\"thoughtNumber\":1,\"totalThoughts\":2}")),
  TAVILY("tavily-mcp", "build/index.js", 5, List.of(), Map.of("TAVILY_API_KEY", "tvly-none"));

  /**
   * A call of a tool.
   *
   * @param arguments as JSON; DIRECTORY stands for the working directory of the server
   * @param ignored JSON pointers into the response, each with the reason
   */
  record Call(String tool, String arguments, Map<String, String> ignored) {
    private Call(String tool, String arguments) {
      this(tool, arguments, Map.of());
    }

    /** Leaves out what two direct runs answer differently. */
    private Call ignoring(String pointer, String reason) {
      return new Call(tool, arguments, Map.of(pointer, reason));
    }
  }

  /** A call that every server refuses itself. */
  private static final Call REFUSED = new Call("no-such-tool", "{}");

  private static final String DIRECTORY = "DIRECTORY";

  private final String npmPackage;
  private final String script;
  private final int tools;
  private final List<String> options;
  private final Map<String, String> variables;
  private final List<Call> calls;

  RealServer(
      String npmPackage,
      String script,
      int tools,
      List<String> options,
      Map<String, String> variables,
      Call... calls) {
    this.npmPackage = npmPackage;
    this.script = script;
    this.tools = tools;
    this.options = List.copyOf(options);
    this.variables = Map.copyOf(variables);
    this.calls = List.of(calls);
  }

  /** Its name at npm. */
  String npmPackage() {
    return npmPackage;
  }

  /** How many tools it lists. */
  int tools() {
    return tools;
  }

  /** What to call, and at last a tool that no server has. */
  List<Call> calls() {
    List<Call> all = new ArrayList<>();
    calls.forEach(call -> all.add(new Call(call.tool, inDirectory(call.arguments), call.ignored)));
    all.add(REFUSED);
    return all;
  }

  /** The command line. */
  List<String> command() {
    return PublishedServers.command(npmPackage + "/" + script, options);
  }

  /** The environment variables besides those that a gateway hands down. */
  Map<String, String> environment() {
    Map<String, String> all = new HashMap<>();
    variables.forEach((name, value) -> all.put(name, inDirectory(value)));
    all.put("HOME", directory().toString());
    all.put("NODE_OPTIONS", PublishedServers.loopbackOnly());
    return all;
  }

  private String inDirectory(String text) {
    return text.replace(DIRECTORY, directory().toString());
  }

  /** Its working directory, which is its home directory, too. */
  Path directory() {
    return Path.of("target", "servers", name().toLowerCase(Locale.ROOT)).toAbsolutePath();
  }
}

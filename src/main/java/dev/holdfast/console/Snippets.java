package dev.holdfast.console;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Settings of clients to paste, with the URL of the gateway and a place for a key.
 *
 * @param url endpoint of the default server
 * @param needsKey whether clients show a key or a token
 */
public record Snippets(String url, boolean needsKey) {

  /** Placeholder for a key. */
  public static final String KEY = "YOUR_KEY";

  /**
   * A snippet.
   *
   * @param where what to do with it
   */
  public record Snippet(String name, String where, String text) {}

  /** All snippets in order. */
  public List<Snippet> all() {
    String header = needsKey ? " --header \"Authorization: Bearer " + KEY + "\"" : "";
    return List.of(
        new Snippet(
            "Claude Code", "Run it.", "claude mcp add --transport http holdfast " + url + header),
        new Snippet(
            "Claude Desktop",
            "Add it to claude_desktop_config.json.",
            servers(bridge()).encodePrettily()),
        new Snippet("Cursor", "Add it to ~/.cursor/mcp.json.", servers(remote()).encodePrettily()),
        new Snippet(
            "VS Code",
            "Add it to .vscode/mcp.json.",
            new JsonObject()
                .put("servers", new JsonObject().put("holdfast", remote().put("type", "http")))
                .encodePrettily()),
        new Snippet("mcp-remote", "Run it, for clients over stdio.", remoteCommand()),
        new Snippet("TypeScript SDK", "Save it as client.mjs.", typescript()),
        new Snippet("Python SDK", "Save it as client.py.", python()),
        new Snippet("curl", "Run it.", curl()));
  }

  JsonObject json() {
    return new JsonObject()
        .put(
            "snippets",
            new JsonArray(
                all().stream()
                    .map(each ->
                        new JsonObject()
                            .put("name", each.name())
                            .put("where", each.where())
                            .put("text", each.text()))
                    .toList()));
  }

  private static JsonObject servers(JsonObject server) {
    return new JsonObject().put("mcpServers", new JsonObject().put("holdfast", server));
  }

  private JsonObject remote() {
    JsonObject server = new JsonObject().put("url", url);
    return needsKey
        ? server.put("headers", new JsonObject().put("Authorization", "Bearer " + KEY))
        : server;
  }

  private JsonObject bridge() {
    JsonArray arguments = new JsonArray().add("-y").add("mcp-remote").add(url);
    if (url.startsWith("http:")) {
      arguments.add("--allow-http");
    }
    if (needsKey) {
      arguments.add("--header").add("Authorization: Bearer " + KEY);
    }
    return new JsonObject().put("command", "npx").put("args", arguments);
  }

  private String remoteCommand() {
    return "npx -y mcp-remote "
        + url
        + (url.startsWith("http:") ? " --allow-http" : "")
        + (needsKey ? " --header \"Authorization: Bearer " + KEY + "\"" : "");
  }

  private String typescript() {
    String options =
        needsKey
            ? ", {\n  requestInit: { headers: { Authorization: 'Bearer " + KEY + "' } },\n}"
            : "";
    return """
    import { Client } from '@modelcontextprotocol/sdk/client/index.js';
    import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

    const client = new Client({ name: 'my-client', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL('%s')%s));
    console.log((await client.listTools()).tools.map((tool) => tool.name));
    await client.close();
    """
        .formatted(url, options);
  }

  private String python() {
    String headers = needsKey ? ", headers={\"Authorization\": \"Bearer " + KEY + "\"}" : "";
    return """
    import asyncio
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client


    async def main():
        async with streamablehttp_client("%s"%s) as (read, write, _):
            async with ClientSession(read, write) as session:
                await session.initialize()
                print([tool.name for tool in (await session.list_tools()).tools])


    asyncio.run(main())
    """
        .formatted(url, headers);
  }

  private String curl() {
    String key = needsKey ? " -H 'Authorization: Bearer " + KEY + "'" : "";
    return """
    curl -i %s%s \\
      -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
      -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
    "capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'
    """
        .formatted(url, key);
  }
}

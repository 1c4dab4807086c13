package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged program with a configuration file of an MCP client. */
@Timeout(90)
class ConfigFileIT {

  /** A server that answers each call with its first argument and a variable. */
  private static final String SHELL_SERVER =
      """
      while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
        case "$line" in
          *'"initialize"'*)
            result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
          *) result='{"content":[{"type":"text","text":"'"$1 $GREETING"'"}]}';;
        esac
        [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
      done
      """;

  @TempDir Path directory;

  @AutoClose private final ScriptedServer web = ScriptedServer.playing(ConfigFileIT::serve);

  private static void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    if (request.body().contains("\"initialize\"")) {
      String opened =
          "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      wire.answer(200, "application/json", result(0, opened), "Mcp-Session-Id: up-1");
    } else if (request.body().contains("tools/call")) {
      String text =
          "{\"content\":[{\"type\":\"text\",\"text\":\"" + request.header("x-tenant") + "\"}]}";
      wire.answer(200, "application/json", result(1, text));
    } else {
      wire.answer(request.method().equals("GET") ? 405 : 202, "", "");
    }
  }

  private static String result(int id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}".formatted(id, result);
  }

  @BeforeEach
  void writeServer() throws IOException {
    Files.writeString(directory.resolve("server.sh"), SHELL_SERVER);
  }

  private String shell(String name) {
    return """
    "%s": {"command": "sh", "args": ["server.sh", "it's %s"], "env": {"GREETING": "hello"},
           "cwd": "%s"}\
    """
        .formatted(name, name, directory);
  }

  private String http() {
    return """
    "web": {"type": "http", "url": "%s", "headers": {"x-tenant": "blue"}}\
    """
        .formatted(web.url());
  }

  private Path write(String... servers) throws IOException {
    return Files.writeString(
        directory.resolve("servers.json"),
        "{\"mcpServers\": {" + String.join(",\n", servers) + "}}");
  }

  private static McpClient client(Gateway gateway, String server) {
    return McpClient.at(gateway.url("/servers/" + server + "/mcp")).ready();
  }

  @Test
  void shouldServeTheServersOfAClient() throws IOException {
    Path file = write(shell("files"), http());

    try (Gateway gateway = Gateway.start(Map.of("holdfast.config", file.toString()))) {
      assertThat(client(gateway, "files").call("any", "{}").rest().toString())
          .contains("it's files hello");
      assertThat(client(gateway, "web").call("any", "{}").rest().toString()).contains("blue");
    }
  }

  @Test
  void shouldPrintTheConfigurationInForce() throws IOException {
    Files.writeString(
        directory.resolve("holdfast.yaml"),
        """
        holdfast:
          stream: {event-ttl: 2h}
        mcpServers:
          web: {url: "http://a.example/mcp?key=secret", headers: {authorization: secret}}
          files: {command: npx, env: {API_KEY: secret}}
        """);

    ProcessResult printed = run(Map.of("HOLDFAST_STREAM_RETRY", "3s"), "config");

    assertThat(printed.stdout().lines())
        .as(printed.toString())
        .contains(
            "holdfast.store=memory (default)",
            "holdfast.stream.event-ttl=2h (holdfast.yaml)",
            "holdfast.stream.retry=3s (HOLDFAST_STREAM_RETRY)",
            "holdfast.upstreams.files.environment.API_KEY=*** (holdfast.yaml)",
            "holdfast.upstreams.web.headers.authorization=*** (holdfast.yaml)",
            "holdfast.upstreams.web.url=http://a.example/mcp?*** (holdfast.yaml)",
            "quarkus.http.port=8080 (default)",
            "quarkus.management.port=0 (command line)");
    assertThat(printed.stdout()).doesNotContain("secret");
    assertThat(printed.exitCode()).isZero();
  }

  @Test
  void shouldOnlyCheckTheConfiguration() throws IOException {
    Path file = Files.writeString(directory.resolve("holdfast.yaml"), "mcpServers: {a/b: {}}");
    assertThat(run(Map.of(), "config", "check").stderr())
        .isEqualTo(
            "holdfast.yaml has nothing below holdfast or mcpServers: add a server, such as"
                + " {\"mcpServers\": {\"time\": {\"command\": \"uvx\", \"args\":"
                + " [\"mcp-server-time\"]}}}\n");

    Files.writeString(file, "mcpServers: {a/b: {comand: x, url: ftp://a/b}}");
    ProcessResult refused = run(Map.of(), "config", "check");
    assertThat(refused.stderr().lines())
        .anySatisfy(line ->
            assertThat(line)
                .endsWith("holdfast.yaml: comand of the server a/b is ignored: is it command?"))
        .contains(
            "holdfast.upstreams.a/b.… (holdfast.yaml): the name of an upstream must be up to 64"
                + " letters, digits, dots, dashes and underscores, such as my-server",
            "holdfast.upstreams.a/b.url must begin with http:// or https://, such as"
                + " http://localhost:3000/mcp");
    assertThat(refused.exitCode()).isEqualTo(1);
  }

  private ProcessResult run(Map<String, String> environment, String... words) {
    List<String> command = new ArrayList<>(PackagedProgram.command(words));
    return PackagedProgram.run(directory, environment, command);
  }
}

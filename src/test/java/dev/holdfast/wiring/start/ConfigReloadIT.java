package dev.holdfast.wiring.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged program, whose configuration file changes while it runs. */
@Tag("long")
@Timeout(300)
class ConfigReloadIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String RELOADED = "configuration file reloaded ";
  private static final String REFUSED = "configuration file not reloaded ";

  /**
   * A server that answers each call with its argument, the call "wait" once there is a file "go".
   */
  private static final String SHELL_SERVER =
      """
      while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\\("[^"]*"\\|[0-9]*\\).*/\\1/p')
        case "$line" in
          *'"initialize"'*)
            result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
          *'"tools/list"'*)
            result='{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}';;
          *) result='{"content":[{"type":"text","text":"'"$1"'"}]}';;
        esac
        case "$line" in
          *'"wait"'*) (touch waiting; while ! [ -e go ]; do sleep 0.1; done
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result") & continue;;
        esac
        [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
      done
      """;

  @TempDir Path directory;

  @AutoClose private final ScriptedServer web = ScriptedServer.playing(ConfigReloadIT::serve);

  private static void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    String id = request.body().replaceFirst("(?s).*\"id\":(\\d+).*", "$1");
    if (request.body().contains("\"initialize\"")) {
      String opened =
          "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      wire.answer(200, "application/json", result(id, opened), "Mcp-Session-Id: up-1");
    } else if (request.body().contains("tools/call")) {
      String text =
          "{\"content\":[{\"type\":\"text\",\"text\":\"" + request.header("x-tenant") + "\"}]}";
      wire.answer(200, "application/json", result(id, text));
    } else {
      wire.answer(request.method().equals("GET") ? 405 : 202, "", "");
    }
  }

  private static String result(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id, result);
  }

  @BeforeEach
  void writeServer() throws IOException {
    Files.writeString(directory.resolve("server.sh"), SHELL_SERVER);
  }

  private String files(String answer) {
    return "  files: {command: sh, args: [server.sh, %s], cwd: \"%s\"}\n"
        .formatted(answer, directory);
  }

  private String web(String tenant) {
    return "  web: {url: \"%s\", headers: {x-tenant: %s}}\n".formatted(web.url(), tenant);
  }

  private static String servers(String... servers) {
    return "mcpServers:\n" + String.join("", servers);
  }

  private Path file() {
    return directory.resolve("holdfast.yaml");
  }

  private Gateway start() {
    return Gateway.start(Map.of("holdfast.config", file().toString()));
  }

  private static McpClient client(Gateway gateway, String server) {
    return McpClient.at(gateway.url("/servers/" + server + "/mcp"));
  }

  private static String call(McpClient client) {
    return client.call("any", "{}").rest().toString();
  }

  private static void awaitLine(Gateway gateway, String line) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() ->
            assertThat(gateway.output().lines())
                .anySatisfy(logged -> assertThat(logged).endsWith(line)));
  }

  /** Kubernetes updates a ConfigMap by replacing a link to a directory. */
  @Test
  void shouldServeWhatANewConfigMapAdds() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("..data"), writeData("1", web("blue")));
    Files.createSymbolicLink(file(), link.resolve("servers.yaml"));

    try (Gateway gateway = start()) {
      McpClient old = client(gateway, "web").ready();
      assertThat(call(old)).contains("blue");
      assertThat(client(gateway, "files").initialized().statusCode()).isEqualTo(404);

      Path next =
          Files.createSymbolicLink(
              directory.resolve("..next"), writeData("2", web("green"), files("one")));
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE);

      awaitLine(gateway, RELOADED + "added=[files] changed=[web]");
      assertThat(gateway.output()).contains("/servers/files/mcp upstream=files server=stdio");
      assertThat(call(client(gateway, "files").ready())).contains("one");
      assertThat(call(client(gateway, "web").ready())).contains("green");
      assertThat(call(old)).as("running session").contains("blue");
      assertThat(gateway.get("/q/metrics").body())
          .contains("holdfast_upstream_up{upstream=\"files\"");
    }
  }

  private Path writeData(String name, String... servers) throws IOException {
    Path data = Files.createDirectory(directory.resolve(name));
    Files.writeString(data.resolve("servers.yaml"), servers(servers));
    return data;
  }

  @Test
  void shouldFinishTheSessionsOfARemovedServer() throws IOException {
    Files.writeString(file(), servers(web("blue"), files("one")));

    try (Gateway gateway = start()) {
      McpClient client = client(gateway, "files").ready();
      try (FrameStream running = client.call("wait", "{}")) {
        running.next();

        Files.writeString(file(), servers(web("blue")));
        awaitLine(gateway, RELOADED + "removed=[files]");

        assertThat(client(gateway, "files").initialized().statusCode()).isEqualTo(404);
        assertThat(call(client)).contains("one");
        assertThat(gateway.get("/q/metrics").body()).doesNotContain("_up{upstream=\"files\"");
        assertThat(gateway.get("/q/health/group/upstreams").body()).doesNotContain("files");
        Files.createFile(directory.resolve("go"));
        assertThat(running.rest().toString()).contains("one");
      }

      Files.writeString(file(), servers(web("blue"), files("two")));
      awaitLine(gateway, RELOADED + "added=[files]");
      assertThat(call(client(gateway, "files").ready())).contains("two");
      assertThat(call(client)).as("running session").contains("one");
      assertThat(client.delete().statusCode()).isEqualTo(204);
    }
  }

  /** A minute after the change, servers without sessions are closed. */
  @Test
  void shouldFinishTheCallsOfOneEndpointForManyServers() throws Exception {
    Files.writeString(file(), servers(web("blue"), files("one")));

    try (Gateway gateway = start()) {
      McpClient client = McpClient.at(gateway.url("/mcp")).ready();
      try (FrameStream running = client.call("files__wait", "{}")) {
        await().until(() -> Files.exists(directory.resolve("waiting")));

        Files.writeString(file(), servers(web("blue"), files("two")));
        awaitLine(gateway, RELOADED + "changed=[files]");
        Thread.sleep(Duration.ofSeconds(130)); // The minute, and the next look of each minute.

        Files.createFile(directory.resolve("go"));
        assertThat(running.rest().toString()).contains("one");
      }
    }
  }

  @Test
  void shouldChangeNothingForABrokenFile() throws IOException {
    Files.writeString(file(), servers(web("blue")));

    try (Gateway gateway = start()) {
      Files.writeString(file(), servers(files("one")) + "holdfast: {stream: {retry: soon}}\n");
      awaitLine(
          gateway,
          REFUSED
              + "file="
              + file()
              + " reason=holdfast.stream.retry ("
              + file()
              + ") must be a duration of 10ms to 10m, such as 5s, not soon");
      assertThat(call(client(gateway, "web").ready())).contains("blue");
      Files.writeString(file(), servers(web("blue"), web("green")));
      awaitLine(gateway, "line 3 has a second key web: remove one of them");
      Files.writeString(
          file(),
          servers(web("green"), files("one"))
              + "holdfast: {upstreams: {other: {url: 'https://a/mcp', tls: none}}}\n");
      awaitLine(
          gateway, "there is none: set such as quarkus.tls.none.trust-store.pem.certs=ca.crt");
      assertThat(call(client(gateway, "web").ready())).contains("blue");
      Files.delete(file());
      awaitLine(gateway, "create " + file() + ", or name another one");
      assertThat(client(gateway, "files").initialized().statusCode()).isEqualTo(404);

      Files.writeString(file(), servers(web("blue"), files("one")));
      awaitLine(gateway, RELOADED + "added=[files]");
      assertThat(call(client(gateway, "files").ready())).contains("one");
      assertThat(gateway.output().lines().filter(line -> line.contains(REFUSED))).hasSize(4);
    }
  }

  @Test
  void shouldChangeLimits() throws IOException {
    Files.writeString(file(), servers(web("blue")) + "holdfast: {limits: {sessions: 1}}\n");

    try (Gateway gateway = start()) {
      assertThat(call(client(gateway, "web").ready())).contains("blue");
      assertThat(client(gateway, "web").initialized().statusCode()).isEqualTo(429);

      Files.writeString(
          file(),
          servers(web("blue"))
              + "holdfast: {limits: {sessions: 2, message-bytes: 1M}, stream: {retry: 1s}}\n"
              + "quarkus: {http: {port: 1}}\n");
      awaitLine(
          gateway,
          RELOADED
              + "limits=[sessions=2] restart-needed-for=[holdfast.limits.message-bytes,"
              + " holdfast.stream.retry]");
      assertThat(client(gateway, "web").initialized().statusCode()).isEqualTo(200);
      assertThat(client(gateway, "web").initialized().statusCode()).isEqualTo(429);
      assertThat(gateway.get("/q/metrics").body())
          .contains("holdfast_places_limit{limit=\"sessions\"} 2.0");
    }
  }
}

package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ProcessResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The settings of clients that the console shows, as far as they run here: those for curl and the
 * TypeScript SDK. The files of the others are read.
 */
@Timeout(120)
class SnippetsIT {

  private static final AccessKey KEY = AccessKey.random();
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    gateway = Gateway.start(Map.of("holdfast.auth.keys.alice.hash", KEY.hash()));
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  private static String snippet(String name) {
    return new Snippets(gateway.url().toString(), true)
        .all().stream()
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow()
            .text()
            .replace(Snippets.KEY, KEY.value());
  }

  @Test
  void shouldRunInAShell() throws IOException {
    Process curl =
        new ProcessBuilder("bash", "-c", snippet("curl")).redirectErrorStream(true).start();

    assertThat(new String(curl.getInputStream().readAllBytes(), UTF_8))
        .contains("200 OK", "\"serverInfo\"");
  }

  @Test
  void shouldRunOnTheTypeScriptSdk(@TempDir Path directory) throws IOException {
    Path modules = NodeFixture.directory().resolve("node_modules").toAbsolutePath();
    Files.createSymbolicLink(directory.resolve("node_modules"), modules);
    Path script = directory.resolve("client.mjs");
    Files.writeString(script, snippet("TypeScript SDK"));

    ProcessResult answer = NodeFixture.run(Duration.ofSeconds(60), script.toString());

    assertThat(answer.stdout()).as(answer.toString()).contains("'countdown'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Claude Desktop", "Cursor", "VS Code"})
  void shouldBeFilesThatNameTheGatewayAndTheKey(String name) {
    JsonObject file = new JsonObject(snippet(name));

    String servers = name.equals("VS Code") ? "servers" : "mcpServers";
    String server = file.getJsonObject(servers).getJsonObject("holdfast").encode();
    assertThat(server).contains(gateway.url().toString(), "Authorization", KEY.value());
  }

  @ParameterizedTest
  @ValueSource(strings = {"Claude Code", "mcp-remote"})
  void shouldBeCommandsThatNameTheGatewayAndTheKey(String name) {
    assertThat(snippet(name))
        .contains(
            gateway.url().toString(), "--header \"Authorization: Bearer " + KEY.value() + "\"");
  }

  @Test
  void shouldNeedNoKeyWhereTheGatewayNeedsNone() {
    assertThat(new Snippets("https://mcp.example.com/mcp", false).all())
        .noneMatch(each -> each.text().contains("Authorization"))
        .noneMatch(each -> each.text().contains("--allow-http"));
  }
}

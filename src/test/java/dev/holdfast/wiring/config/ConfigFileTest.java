package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.config.ConfigFile;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.config.InvalidFileException;
import dev.holdfast.upstream.stdio.CommandLine;
import io.smallrye.config.SmallRyeConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads configuration files as the program does. */
class ConfigFileTest {

  @TempDir Path directory;

  private SmallRyeConfig read(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("holdfast.yaml"), text);
    return ConfigFixture.by(Map.of("holdfast.config", file.toString(), "TOKEN", "a'b"));
  }

  private static GatewayConfig.Server server(SmallRyeConfig config, String name) {
    return Objects.requireNonNull(
        config.getConfigMapping(GatewayConfig.class).upstreams().get(name));
  }

  private static List<String> warnings(SmallRyeConfig config) {
    for (ConfigSource source : config.getConfigSources(ConfigFile.class)) {
      return ((ConfigFile) source).warnings();
    }
    return List.of();
  }

  @Test
  void shouldReadTheKeysOfTheProgram() throws IOException {
    SmallRyeConfig config =
        read(
            """
            holdfast:
              stream:
                event-ttl: 2h   # a comment
              upstreams:
                my-server: {url: "http://a/mcp", allow-tools: [one, two]}
            """);

    GatewayConfig.Server server = server(config, "my-server");
    assertThat(server.url()).hasValue(URI.create("http://a/mcp"));
    assertThat(server.allowTools()).hasValue(List.of("one", "two"));
    assertThat(config.getValue("holdfast.stream.event-ttl", Duration.class)).hasHours(2);
    assertThat(ConfigOrigin.of(config.getConfigValue("holdfast.stream.event-ttl")))
        .isEqualTo(directory.resolve("holdfast.yaml").toString());
    assertThat(warnings(config)).isEmpty();
  }

  /** JSON is YAML, also with tabs. */
  @Test
  void shouldReadTheServersOfClients() throws IOException {
    SmallRyeConfig config =
        read(
            """
            {
            \t"globalShortcut": "x",
            \t"mcpServers": {
            \t\t"File.System": {
            \t\t\t"command": "npx",
            \t\t\t"args": ["-y", "a b,c", "it's", "", "\\\\d"],
            \t\t\t"env": {"http_proxy": "x", "API_KEY": "${TOKEN}", "Path2": "y"},
            \t\t\t"cwd": "/tmp"
            \t\t},
            \t\t"web": {
            \t\t\t"type": "http", "url": "https://a.example/mcp", "comand": "x",
            \t\t\t"headers": {"Authorization": "Bearer ${TOKEN}"}
            \t\t},
            \t\t"old": {"type": "sse", "url": "https://a.example/sse"},
            \t\t"off": {"command": "x", "disabled": true}
            \t}
            }
            """);

    Map<String, GatewayConfig.Server> servers =
        config.getConfigMapping(GatewayConfig.class).upstreams();
    assertThat(servers).containsOnlyKeys("File.System", "web", "old");
    GatewayConfig.Server files = server(config, "File.System");
    assertThat(CommandLine.parse(files.command().orElseThrow()))
        .containsExactly("npx", "-y", "a b,c", "it's", "", "\\d");
    assertThat(files.environment())
        .containsOnly(
            Map.entry("http_proxy", "x"), Map.entry("API_KEY", "a'b"), Map.entry("Path2", "y"));
    assertThat(files.directory()).hasValue(Path.of("/tmp"));
    assertThat(server(config, "web").transport())
        .isEqualTo(GatewayConfig.Transport.STREAMABLE_HTTP);
    assertThat(server(config, "web").headers()).containsEntry("Authorization", "Bearer a'b");
    assertThat(server(config, "old").transport()).isEqualTo(GatewayConfig.Transport.SSE);
    String file = directory.resolve("holdfast.yaml").toString();
    assertThat(warnings(config))
        .containsExactlyInAnyOrder(
            file + ": globalShortcut is ignored: use holdfast or mcpServers",
            file + ": comand of the server web is ignored: is it command?");
    assertThat(new CheckedConfig(config).gateway()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"mcpServers\": {\"a\": {\"command\": \"b\" \"c\"}}} | FILE line 1, column 38 is not"
            + " valid YAML or JSON: expected ',' or '}', but got <scalar>",
        "[1] | FILE has nothing below holdfast or mcpServers: add a server, such as"
            + " {\"mcpServers\": {\"time\": {\"command\": \"uvx\", \"args\":"
            + " [\"mcp-server-time\"]}}}",
        "mcpServers: {a: {type: grpc}} | FILE: type of the server a must be stdio, http or sse",
        "mcpServers: {a: {url: \"http://a\"}, a: {}} | FILE line 1 has a second key a: remove one of"
            + " them",
        "{mcpServers: {a: {type: http}}} | FILE: the server a has neither url nor command: add one,"
            + " or remove the server",
        "mcpServers: {a: {comand: x}} | FILE: the server a has neither url nor command: is comand"
            + " meant to be command?",
        "mcpServers: {a: {url: \"http://a\"}, b: } | FILE: the server b has neither url nor command:"
            + " add one, or remove the server",
      })
  void shouldRefuseInvalidFiles(String text, String line) {
    assertThatExceptionOfType(InvalidFileException.class)
        .isThrownBy(() -> read(text))
        .withMessage(line.replace("FILE", directory.resolve("holdfast.yaml").toString()));
  }

  @Test
  void shouldRefuseAFileThatDoesNotExist() {
    assertThatExceptionOfType(InvalidFileException.class)
        .isThrownBy(() -> ConfigFixture.by(Map.of("holdfast.config", "/no/such")))
        .withMessage(
            "holdfast.config names a file that does not exist: create /no/such, or name another"
                + " one");
  }
}

package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.PublishedServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Well-known MCP servers over stdio, as they are published. Behind a gateway, a client gets the
 * same responses as directly, with the same values in the same order.
 */
@Tag("servers")
@Timeout(1800)
class RealServersIT {
  private static final Path TABLE = Path.of("docs", "upstreams.md");

  /** What a gateway hands down to a program (docs/upstreams.md). */
  private static final Set<String> INHERITED =
      Set.of(
          "PATH", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE");

  @BeforeAll
  static void install() {
    PublishedServers.install();
  }

  @ParameterizedTest
  @EnumSource
  void shouldAnswerTheSameAsWithoutAGateway(RealServer server) throws IOException {
    ServerConversation direct = directly(server);

    assertThat(direct.tools()).as(direct.toString()).isEqualTo(server.tools());
    assertThat(directly(server).differencesFrom(direct)).as("two direct runs").isEmpty();
    assertThat(throughGateway(server).differencesFrom(direct)).as("gateway, direct").isEmpty();
  }

  private static ServerConversation directly(RealServer server) throws IOException {
    empty(server.directory());
    ProcessBuilder builder =
        new ProcessBuilder(server.command()).directory(server.directory().toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().retainAll(INHERITED);
    environment.putAll(server.environment());
    return ServerConversation.hold(new StdioServerSession(builder), server.calls());
  }

  private static ServerConversation throughGateway(RealServer server) throws IOException {
    empty(server.directory());
    try (Gateway gateway = Gateway.start(settings(server))) {
      return ServerConversation.hold(new HttpServerSession(gateway.url()), server.calls());
    }
  }

  private static Map<String, String> settings(RealServer server) {
    Map<String, String> settings = new HashMap<>();
    settings.put(
        "holdfast.upstream.command",
        server.command().stream().map(word -> "'" + word + "'").collect(Collectors.joining(" ")));
    settings.put("holdfast.upstream.directory", server.directory().toString());
    server
        .environment()
        .forEach((name, value) -> settings.put("holdfast.upstream.environment." + name, value));
    return settings;
  }

  private static void empty(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    Files.createDirectories(directory);
  }

  @Test
  void shouldListTheServersInTheDocumentation() throws IOException {
    JsonNode versions =
        ServerSession.parse(Files.readString(PublishedServers.home().resolve("package.json")))
            .path("devDependencies");
    List<String> rows =
        Stream.of(RealServer.values())
            .map(server ->
                "| `%s` | %s | %d |"
                    .formatted(
                        server.npmPackage(),
                        versions.path(server.npmPackage()).asText(),
                        server.tools()))
            .toList();

    assertThat(versions).hasSameSizeAs(rows);
    assertThat(Files.readAllLines(TABLE)).containsAll(rows);
  }
}

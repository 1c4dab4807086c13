package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OwnToolsExample;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project in examples/own-tools builds, and its gateway serves its tool. In the long form only:
 * it is a whole build of its own.
 */
@Tag("long")
class OwnToolsIT {

  private static final Pattern READY = Pattern.compile("Listening on: http://[^:]+:(\\d+)");

  @Test
  void shouldServeOwnTool(@TempDir Path directory) {
    // given
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(
        PackagedProgram.shortLived(
            "-Xmx256m",
            "-Dquarkus.http.port=0",
            "-Dquarkus.management.port=0",
            "-Dholdfast.demo-tools=never"));
    command.addAll(List.of("-jar", OwnToolsExample.build(directory).toString()));

    try (ServerProcess gateway = ServerProcess.start(new ProcessBuilder(command), READY)) {
      McpClient client =
          McpClient.at(URI.create("http://127.0.0.1:" + gateway.port() + "/mcp")).ready();

      // when
      String tools = client.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}").body();
      List<Frame.Event> events =
          client.call("report", "{\"topic\":\"ships\",\"chapters\":1}").events();

      // then
      assertThat(tools)
          .contains("\"title\":\"Write a report\"", "\"annotations\":{\"readOnlyHint\":true}")
          .doesNotContain("countdown");
      assertThat(events.getLast().data()).contains("1 chapters about ships");
    }
  }
}

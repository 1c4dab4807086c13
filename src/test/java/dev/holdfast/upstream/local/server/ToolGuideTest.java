package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.demo.TripTool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example in docs/tools.md compiles and behaves as described there. */
@Timeout(30)
class ToolGuideTest {

  private static final Path GUIDE = Path.of("docs/tools.md");
  private static final Path EXAMPLE = Path.of("src/test/java/dev/holdfast/demo/TripTool.java");

  @RegisterExtension final LocalServer server = new LocalServer();

  private JsonNode last(String arguments) {
    List<String> messages =
        drain(
            LocalClient.open(server.of(new TripTool()))
                .call(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"tools/call",
                     "params":{"name":"trip","arguments":%s}}
                    """
                        .formatted(arguments)));
    return tree(messages.getLast()).get("result");
  }

  @Test
  void shouldContainTheExample() throws IOException {
    String example = Files.readString(EXAMPLE);

    assertThat(Files.readString(GUIDE))
        .contains("```java\n" + example.substring(example.indexOf("import ")) + "```");
  }

  @Test
  void shouldReturnTheResultOfTheGuide() {
    assertThat(last("{\"places\":[\"Ulm\",\"Bonn\"],\"travellers\":2}").get("structuredContent"))
        .isEqualTo(tree("{\"legs\":1,\"price\":20}"));
  }

  @Test
  void shouldRefuseTheArgumentsOfTheGuide() throws IOException {
    // when
    JsonNode refused = last("{\"places\":[\"Ulm\"],\"traveller\":2}");

    // then
    assertThat(refused.get("isError").asBoolean()).isTrue();
    assertThat(Files.readString(GUIDE).replaceAll("\\s+(> )?", " "))
        .contains(refused.at("/content/0/text").asText());
  }
}

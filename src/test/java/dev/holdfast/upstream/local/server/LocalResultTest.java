package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.validation.constraints.Max;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Results of tools on the wire. */
@Timeout(30)
class LocalResultTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  record Weather(String sky, @Max(60) int degrees, @Nullable String warning) {}

  /** Declares a weather record and returns any given result. */
  private record Forecast(ToolResult given) implements Tool<NoArguments> {

    @Override
    public String name() {
      return "forecast";
    }

    @Override
    public String description() {
      return "Says how it will be.";
    }

    @Override
    public Class<NoArguments> arguments() {
      return NoArguments.class;
    }

    @Override
    public Optional<Class<? extends Record>> result() {
      return Optional.of(Weather.class);
    }

    @Override
    public ToolResult call(NoArguments arguments, ToolCall call) {
      return given;
    }
  }

  private JsonNode forecast(ToolResult given) {
    return result(LocalClient.open(server.of(new Forecast(given))), "forecast");
  }

  private static JsonNode result(LocalClient client, String tool) {
    return tree(drain(client.callTool("1", tool)).getFirst()).get("result");
  }

  @Test
  void shouldListTheOutputSchema() {
    // when
    String list =
        LocalClient.open(server.of(new Forecast(ToolResult.text(""))))
            .ask(
                """
                {"jsonrpc":"2.0","id":1,"method":"tools/list"}
                """);

    // then
    assertThat(tree(list).at("/result/tools/0/outputSchema"))
        .isEqualTo(
            tree(
                """
                {"type":"object","properties":{"sky":{"type":"string"},
                  "degrees":{"type":"integer","maximum":60},"warning":{"type":"string"}},
                 "required":["sky","degrees"],"additionalProperties":false}
                """));
  }

  @Test
  void shouldSendARecordAlsoAsText() {
    assertThat(forecast(ToolResult.of(new Weather("blue", 21, null))))
        .isEqualTo(
            tree(
                """
                {"content":[{"type":"text","text":"{\\"sky\\":\\"blue\\",\\"degrees\\":21}"}],
                 "structuredContent":{"sky":"blue","degrees":21}}
                """));
  }

  @Test
  void shouldSendARecordBesideOtherContent() {
    assertThat(
            forecast(
                new ToolResult(
                    List.of(new ContentBlock.Text("fine")), new Weather("blue", 21, "sun"), false)))
        .isEqualTo(
            tree(
                """
                {"content":[{"type":"text","text":"fine"}],
                 "structuredContent":{"sky":"blue","degrees":21,"warning":"sun"}}
                """));
  }

  @Test
  void shouldFailWithoutTheDeclaredRecord() {
    assertThat(forecast(ToolResult.error("no idea")).toString()).contains("no idea", "isError");
  }

  @Test
  void shouldFailWithAnotherRecordThanDeclared() {
    assertThat(forecast(ToolResult.text("fine")).toString()).contains("The tool failed.");
    assertThat(forecast(ToolResult.of(new NoArguments())).toString()).contains("The tool failed.");
    assertThat(forecast(ToolResult.of(new Weather("red", 61, null))).toString())
        .contains("The tool failed.");
  }

  @Test
  void shouldSendAllKindsOfContent() {
    // given
    byte[] data = {1, 2, 3};
    LocalClient client =
        server.clientOf(_ ->
            ToolResult.content(
                new ContentBlock.Text("t"),
                new ContentBlock.Image(data, "image/png"),
                new ContentBlock.Audio(data, "audio/wav"),
                new ContentBlock.ResourceLink("file:///a", "a", "it", "text/plain"),
                new ContentBlock.ResourceLink("file:///b", "b", null, null),
                new ContentBlock.TextResource("file:///c", "text/plain", "c"),
                new ContentBlock.BlobResource("file:///d", null, data)));

    // then
    assertThat(result(client, "tool"))
        .isEqualTo(
            tree(
                """
                {"content":[
                 {"type":"text","text":"t"},
                 {"type":"image","data":"AQID","mimeType":"image/png"},
                 {"type":"audio","data":"AQID","mimeType":"audio/wav"},
                 {"type":"resource_link","uri":"file:///a","name":"a","description":"it",
                  "mimeType":"text/plain"},
                 {"type":"resource_link","uri":"file:///b","name":"b"},
                 {"type":"resource","resource":
                  {"uri":"file:///c","mimeType":"text/plain","text":"c"}},
                 {"type":"resource","resource":{"uri":"file:///d","blob":"AQID"}}]}
                """));
  }

  @Test
  void shouldRefuseAnEmptyResult() {
    assertThatIllegalArgumentException().isThrownBy(() -> new ToolResult(List.of(), null, false));
  }
}

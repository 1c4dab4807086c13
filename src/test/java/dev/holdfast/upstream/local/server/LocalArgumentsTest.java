package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Input schemas, and the arguments that tools get. */
@Timeout(30)
class LocalArgumentsTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  enum Colour {
    @JsonProperty("red")
    RED,
    @JsonProperty("dark-blue")
    BLUE
  }

  record Point(int x, int y) {}

  record Drawing(
      @JsonPropertyDescription("Its title.") @Size(min = 1, max = 5) String title,
      @Min(1) @Max(10) @JsonProperty(defaultValue = "3") int width,
      @Nullable @Pattern(regexp = "[a-z]+") String note,
      @JsonProperty(defaultValue = "red") Colour colour,
      @Nullable List<Point> points,
      @Nullable Map<String, Double> weights) {

    Drawing {
      if (title.equals("evil")) {
        throw new IllegalArgumentException("no such title");
      }
    }
  }

  private record Draw(String name) implements Tool<Drawing> {

    @Override
    public String description() {
      return "Draws.";
    }

    @Override
    public Class<Drawing> arguments() {
      return Drawing.class;
    }

    @Override
    public ToolResult call(Drawing drawing, ToolCall call) {
      if (drawing.width() == 7) {
        throw new InvalidArgumentsException("not today");
      }
      return ToolResult.text(drawing.toString());
    }
  }

  private LocalClient client() {
    return LocalClient.open(server.of(new Draw("draw")));
  }

  private JsonNode call(String arguments) {
    List<String> messages =
        drain(
            client()
                .call(
                    """
                    {"jsonrpc":"2.0","id":5,"method":"tools/call",
                     "params":{"name":"draw","arguments":%s}}
                    """
                        .formatted(arguments)));
    assertThat(messages).hasSize(1);
    return tree(messages.getFirst());
  }

  @Test
  void shouldListTheInputSchema() {
    // when
    String list =
        client()
            .ask(
                """
                {"jsonrpc":"2.0","id":1,"method":"tools/list"}
                """);

    // then
    assertThat(tree(list).at("/result/tools/0/inputSchema"))
        .isEqualTo(
            tree(
                """
                {"type":"object",
                 "properties":{
                  "title":{"type":"string","description":"Its title.","minLength":1,"maxLength":5},
                  "width":{"type":"integer","default":3,"minimum":1,"maximum":10},
                  "note":{"type":"string","pattern":"[a-z]+"},
                  "colour":{"type":"string","enum":["red","dark-blue"],"default":"red"},
                  "points":{"type":"array","items":{"type":"object",
                   "properties":{"x":{"type":"integer"},"y":{"type":"integer"}},
                   "required":["x","y"],"additionalProperties":false}},
                  "weights":{"type":"object","additionalProperties":{"type":"number"}}},
                 "required":["title"],"additionalProperties":false}
                """));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{\"title\":\"a\"}"
            + "| Drawing[title=a, width=3, note=null, colour=RED, points=null, weights=null]",
        "{\"title\":\"a\",\"width\":4.0,\"note\":null,\"colour\":\"dark-blue\"}"
            + "| Drawing[title=a, width=4, note=null, colour=BLUE, points=null, weights=null]",
        "{\"title\":\"a\",\"points\":[{\"x\":1,\"y\":-1}],\"weights\":{\"b\":0.5}}"
            + "| Drawing[title=a, width=3, note=null, colour=RED, points=[Point[x=1, y=-1]],"
            + " weights={b=0.5}]"
      })
  void shouldBindArgumentsToTheRecord(String arguments, String drawing) {
    assertThat(call(arguments).at("/result/content/0/text").asText()).isEqualTo(drawing);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{}                                          | required property 'title' not found",
        "null                                        | required property 'title' not found",
        "{\"title\":null}                            | required property 'title' not found",
        "{\"title\":7}                               | title: integer found, string expected",
        "{\"title\":\"\"}                            | title: must be at least 1 characters long",
        "{\"title\":\"a\",\"width\":11}              | width: must have a maximum value of 10",
        "{\"title\":\"a\",\"width\":1.5}             | width: number found, integer expected",
        "{\"title\":\"a\",\"width\":\"3\"}           | width: string found, integer expected",
        "{\"title\":\"a\",\"colour\":\"BLUE\"}       | colour: does not have a value in the",
        "{\"title\":\"a\",\"note\":\"A\"}            | note: does not match the regex pattern",
        "{\"title\":\"a\",\"points\":[{\"x\":1}]}    | points/0: required property 'y' not found",
        "{\"title\":\"a\",\"points\":[{\"x\":1,\"y\":9999999999}]} | points/0/y: is out of range",
        "{\"title\":\"a\",\"tilte\":\"b\"}           | property 'tilte' is not defined",
        "{\"title\":\"evil\"}                        | no such title",
        "{\"title\":\"a\",\"width\":7}               | not today"
      })
  void shouldTellTheModelAboutInvalidArguments(String arguments, String problem) {
    // when
    JsonNode response = call(arguments);

    // then
    assertThat(response.at("/result/isError").asBoolean()).isTrue();
    assertThat(response.at("/result/content/0/text").asText())
        .startsWith("Invalid arguments: " + problem);
    assertThat(response.get("id").asInt()).isEqualTo(5);
  }

  @Test
  void shouldNameAllErrorsUpToABound() {
    // given
    StringBuilder many = new StringBuilder("{\"x\":0");
    for (int i = 0; i < 100; i++) {
      many.append(",\"x").append(i).append("\":0");
    }

    // when
    String text = call(many.append('}').toString()).at("/result/content/0/text").asText();

    // then
    assertThat(text.split("; ")).hasSize(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"arguments\":{}", ",\"arguments\":null"})
  void shouldCallAToolWithoutArguments(String member) {
    // given
    LocalClient client = server.clientOf(_ -> ToolResult.text("done"));

    // then
    assertThat(
            drain(
                client.call(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool"%s}}
                    """
                        .formatted(member))))
        .singleElement()
        .asString()
        .contains("done");
  }

  record Odd(@JsonProperty(defaultValue = "{") int odd) {}

  @Test
  void shouldRefuseARecordWithoutASchema() {
    Tool<Odd> odd =
        new Tool<>() {
          @Override
          public String name() {
            return "odd";
          }

          @Override
          public String description() {
            return "";
          }

          @Override
          public Class<Odd> arguments() {
            return Odd.class;
          }

          @Override
          public ToolResult call(Odd arguments, ToolCall call) {
            return ToolResult.text("");
          }
        };

    assertThatIllegalArgumentException()
        .isThrownBy(() -> server.of(odd))
        .withMessageContaining("\"odd\"");
  }
}

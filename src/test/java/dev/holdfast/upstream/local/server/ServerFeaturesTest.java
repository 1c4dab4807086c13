package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.ResourceTemplate;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Resources and prompts. */
@Timeout(30)
class ServerFeaturesTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  private record Page(String uri) implements Resource {

    @Override
    public String name() {
      return "page";
    }

    @Override
    public String description() {
      return "A page.";
    }

    @Override
    public ContentBlock.EmbeddedResource read() {
      if (uri.endsWith("broken")) {
        throw new IllegalStateException("secret");
      }
      return uri.endsWith("bytes")
          ? new ContentBlock.BlobResource(uri, null, new byte[] {1, 2, 3})
          : new ContentBlock.TextResource(uri, "text/plain", "words");
    }
  }

  record Poem(
      @JsonPropertyDescription("What it is about.") String subject, @Nullable String style) {}

  private record Write(String name) implements Prompt<Poem> {

    @Override
    public String description() {
      return "Writes a poem.";
    }

    @Override
    public Class<Poem> arguments() {
      return Poem.class;
    }

    @Override
    public List<Prompt.PromptMessage> get(Poem poem) {
      if (poem.subject().equals("secret")) {
        throw new IllegalStateException("secret");
      }
      return List.of(
          Prompt.PromptMessage.user("A poem about " + poem.subject()),
          Prompt.PromptMessage.assistant("Well:"));
    }

    @Override
    public List<String> complete(String argument, String begun) {
      return Stream.of("sonnet", "haiku").filter(each -> each.startsWith(begun)).toList();
    }
  }

  record Numbers(int number) {}

  private record Counts(String name) implements Prompt<Numbers> {

    @Override
    public String description() {
      return "";
    }

    @Override
    public Class<Numbers> arguments() {
      return Numbers.class;
    }

    @Override
    public List<Prompt.PromptMessage> get(Numbers arguments) {
      return List.of();
    }
  }

  /** Pages of the books that there are. */
  private record Books(String uriTemplate) implements ResourceTemplate {

    @Override
    public String name() {
      return "book";
    }

    @Override
    public String description() {
      return "A page of a book.";
    }

    @Override
    public ContentBlock.EmbeddedResource read(String uri, Map<String, String> variables) {
      String book = String.valueOf(variables.get("book"));
      return switch (book) {
        case "none" -> throw new InvalidArgumentsException("There is no such book");
        case "broken" -> throw new IllegalStateException("secret");
        default -> new ContentBlock.TextResource(uri, null, book + ", " + variables.get("page"));
      };
    }

    @Override
    public List<String> complete(String variable, String begun) {
      if (begun.equals("broken")) {
        throw new IllegalStateException("secret");
      }
      return IntStream.range(0, 120).mapToObj(i -> variable + begun + i).toList();
    }
  }

  private final LocalUpstream.ServerFeatures offer =
      new LocalUpstream.ServerFeatures(
          List.of(),
          List.of(new Page("p:text"), new Page("p:bytes"), new Page("p:broken")),
          List.of(new Books("b://{book}/pages/{page}")),
          List.of(new Write("poem")));

  private JsonNode ask(String method, String params) {
    return tree(
        server
            .clientOf(offer)
            .ask(
                """
                {"jsonrpc":"2.0","id":1,"method":"%s","params":%s}
                """
                    .formatted(method, params)));
  }

  @Test
  void shouldDeclareCapabilitiesForItsFeatures() {
    // given
    LocalUpstream upstream = new LocalUpstream(offer, new LogLevelStore.InMemory(), "test", "1");

    // when
    Handshake handshake =
        LocalClient.initialize(
            upstream,
            """
            {"jsonrpc":"2.0","id":0,"method":"initialize",
             "params":{"protocolVersion":"2025-11-25","capabilities":{}}}
            """);

    // then
    assertThat(tree(LocalClient.text(handshake.response())).at("/result/capabilities"))
        .isEqualTo(
            tree(
                "{\"logging\":{},\"tools\":{},\"resources\":{},\"prompts\":{},\"completions\":{}}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "resources/list | {} | {'resources':["
            + "{'uri':'p:broken','name':'page','description':'A page.'},"
            + "{'uri':'p:bytes','name':'page','description':'A page.'},"
            + "{'uri':'p:text','name':'page','description':'A page.'}]}",
        "resources/templates/list | {} | {'resourceTemplates':[{'name':'book',"
            + "'description':'A page of a book.','uriTemplate':'b://{book}/pages/{page}'}]}",
        "resources/read | {'uri':'b://War%20and%2BPeace/pages/7'} | {'contents':["
            + "{'uri':'b://War%20and%2BPeace/pages/7','text':'War and+Peace, 7'}]}",
        "completion/complete | {'ref':{'type':'ref/prompt','name':'poem'},"
            + "'argument':{'name':'style','value':'so'}}"
            + "| {'completion':{'values':['sonnet'],'total':1,'hasMore':false}}",
        "resources/read | {'uri':'p:text'}"
            + "| {'contents':[{'uri':'p:text','mimeType':'text/plain','text':'words'}]}",
        "resources/read | {'uri':'p:bytes'} | {'contents':[{'uri':'p:bytes','blob':'AQID'}]}",
        "prompts/list | {} | {'prompts':[{'name':'poem','description':'Writes a"
            + " poem.','arguments':[{'name':'subject','description':'What it is"
            + " about.','required':true},{'name':'style'}]}]}",
        "prompts/get | {'name':'poem','arguments':{'subject':'rain'}}"
            + "| {'messages':[{'role':'user','content':{'type':'text','text':'A poem about rain'}},"
            + "{'role':'assistant','content':{'type':'text','text':'Well:'}}]}"
      })
  void shouldAnswer(String method, String params, String result) {
    assertThat(ask(method, params.replace('\'', '"')).get("result"))
        .isEqualTo(tree(result.replace('\'', '"')));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "resources/list | {'cursor':'2'} | -32602 | Invalid params: there is only one page",
        "resources/read | {} | -32602 | Invalid params: uri must be a string",
        "resources/read | {'uri':'p:none'} | -32002 | Resource not found",
        "resources/read | {'uri':'p:broken'} | -32603 | Internal error",
        "resources/read | {'uri':'b://none/pages/1'} | -32002 | There is no such book",
        "resources/read | {'uri':'b://a/b/pages/1'} | -32002 | Resource not found",
        "resources/read | {'uri':'b:///pages/1'} | -32002 | Resource not found",
        "resources/read | {'uri':'b://%zz/pages/1'} | -32002 | Resource not found",
        "resources/read | {'uri':'b://broken/pages/1'} | -32603 | Internal error",
        "completion/complete | {} | -32602 | Invalid params: argument must have a name and a value",
        "completion/complete | {'ref':{},'argument':{'name':'a','value':''}} | -32602"
            + "| Invalid params: ref has an unknown type",
        "completion/complete | {'ref':{'type':'ref/prompt','name':'p'},"
            + "'argument':{'name':'a','value':''}} | -32602"
            + "| Invalid params: there is no such prompt",
        "completion/complete | {'ref':{'type':'ref/resource','uri':'b://{a}'},"
            + "'argument':{'name':'a','value':''}} | -32602"
            + "| Invalid params: there is no such template",
        "completion/complete | {'ref':{'type':'ref/resource','uri':'b://{book}/pages/{page}'},"
            + "'argument':{'name':'book','value':'broken'}} | -32603 | Internal error",
        "resources/subscribe | {'uri':'p:text'} | -32601 | Method not found",
        "prompts/list | {'cursor':'2'} | -32602 | Invalid params: there is only one page",
        "prompts/get | {} | -32602 | Invalid params: there is no such prompt",
        "prompts/get | {'name':'p'} | -32602 | Invalid params: there is no such prompt",
        "prompts/get | {'name':'poem'} | -32602 | Invalid params: required property 'subject'",
        "prompts/get | {'name':'poem','arguments':{'subject':'secret'}} | -32603 | Internal error",
        "prompts/other | {} | -32601 | Method not found"
      })
  void shouldRefuse(String method, String params, int code, String message) {
    // when
    JsonNode error = ask(method, params.replace('\'', '"')).get("error");

    // then
    assertThat(error.get("code").asInt()).isEqualTo(code);
    assertThat(error.get("message").asText()).startsWith(message);
  }

  @Test
  void shouldSuggestAtMostAHundredValues() {
    JsonNode completion =
        ask(
                "completion/complete",
                "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"b://{book}/pages/{page}\"},"
                    + "\"argument\":{\"name\":\"page\",\"value\":\"1\"}}")
            .at("/result/completion");

    assertThat(completion.get("values")).hasSize(100).contains(TextNode.valueOf("page199"));
    assertThat(completion.get("total").asInt()).isEqualTo(120);
    assertThat(completion.get("hasMore").asBoolean()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"b:none", "b://{a}{b}", "b://{a}-{b}", "b://{a}/{a}", "b://{+a}", "b://{a"})
  void shouldRefuseATemplateThatCannotBeMatched(String template) {
    assertThatIllegalArgumentException().isThrownBy(() -> UriTemplate.parse(template));
  }

  @Test
  void shouldRefuseTwoTemplatesOfTheSameUri() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            server.clientOf(
                new LocalUpstream.ServerFeatures(
                    List.of(),
                    List.of(),
                    List.of(new Books("b:{a}"), new Books("b:{a}")),
                    List.of())))
        .withMessage("Two templates are at \"b:{a}\"");
  }

  @Test
  void shouldLogWhatFailed() {
    try (LoggedLines log = new LoggedLines("dev.holdfast.upstream.local")) {
      JsonNode _ = ask("resources/read", "{\"uri\":\"p:broken\"}");
      JsonNode _ = ask("prompts/get", "{\"name\":\"poem\",\"arguments\":{\"subject\":\"secret\"}}");

      log.await("a resource failed");
      JsonNode _ =
          ask(
              "completion/complete",
              "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"b://{book}/pages/{page}\"},"
                  + "\"argument\":{\"name\":\"book\",\"value\":\"broken\"}}");
      log.await("a prompt failed");
      log.await("a completion failed");
    }
  }

  @Test
  void shouldRefuseTwoOfTheSameName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            server.clientOf(
                new LocalUpstream.ServerFeatures(
                    List.of(), List.of(new Page("a"), new Page("a")), List.of())))
        .withMessage("Two resources are at \"a\"");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            server.clientOf(
                new LocalUpstream.ServerFeatures(
                    List.of(), List.of(), List.of(new Write("a"), new Write("a")))))
        .withMessage("Two prompts have the name \"a\"");
  }

  @Test
  void shouldRefuseAPromptWithAnArgumentThatIsNoText() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            server.clientOf(
                new LocalUpstream.ServerFeatures(
                    List.of(), List.of(), List.of(new Counts("counts")))))
        .withMessage("Not a text: counts.number");
  }
}

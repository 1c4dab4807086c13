package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.body;
import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.text;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class LocalUpstreamTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final Tool<?> alpha = ScriptedTool.waiting("alpha", _ -> ToolResult.text("a"));
  private final Tool<?> stuck =
      ScriptedTool.waiting(
          "stuck",
          _ -> {
            started.countDown();
            released.await();
            return ToolResult.text("released");
          });
  private final LocalUpstream upstream =
      new LocalUpstream(
          new LocalUpstream.ServerFeatures(List.of(stuck, alpha), List.of(), List.of()),
          new LogLevelStore.InMemory(),
          "a \"name\"",
          "1.2");

  @AfterEach
  void close() {
    upstream.close();
  }

  @ParameterizedTest
  @CsvSource({
    "2024-11-05,2024-11-05",
    "2025-03-26,2025-03-26",
    "2025-06-18,2025-06-18",
    "2025-11-25,2025-11-25",
    "2026-07-28,2025-11-25",
    "1.0,2025-11-25"
  })
  void shouldAgreeToKnownVersionAndOfferNewestOtherwise(String wanted, String agreed) {
    // when
    Handshake handshake =
        LocalClient.initialize(
            upstream,
            """
            {"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"%s"}}
            """
                .formatted(wanted));

    // then
    assertThat(tree(text(handshake.response())))
        .isEqualTo(
            tree(
                """
                {"jsonrpc":"2.0","id":"i","result":{
                  "protocolVersion":"%s",
                  "capabilities":{"tools":{},"logging":{}},
                  "serverInfo":{"name":"a \\"name\\"","version":"1.2"}}}
                """
                    .formatted(agreed)));
    assertThat(handshake.before()).isEmpty();
    assertThat(handshake.link()).extracting(UpstreamLink::protocolVersion).isEqualTo(agreed);
  }

  @Test
  void shouldGiveEachSessionItsOwnName() {
    // when
    LocalClient first = LocalClient.open(upstream);
    LocalClient second = LocalClient.open(upstream);

    // then
    assertThat(first.link().session()).isNotNull().isNotEqualTo(second.link().session());
  }

  @Test
  void shouldOpenNoSessionWithoutVersion() {
    // when
    Handshake handshake =
        LocalClient.initialize(
            upstream,
            """
            {"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}
            """);

    // then
    assertThat(handshake.link()).isNull();
    assertThat(tree(text(handshake.response())).at("/error/code").asInt()).isEqualTo(-32602);
    assertThat(tree(text(handshake.response())).get("id").asInt()).isEqualTo(7);
  }

  @Test
  void shouldAnswerPing() {
    assertThat(
            LocalClient.open(upstream)
                .ask(
                    """
                    {"jsonrpc":"2.0","id":"p","method":"ping"}
                    """))
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":"p","result":{}}\
            """);
  }

  @Test
  void shouldListToolsSortedByName() {
    assertThat(
            LocalClient.open(upstream)
                .ask(
                    """
                    {"jsonrpc":"2.0","id":1.0,"method":"tools/list","params":{}}
                    """))
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":1.0,"result":{"tools":[\
            {"name":"alpha","description":"Runs alpha","inputSchema":{"type":"object","additionalProperties":false}},\
            {"name":"stuck","description":"Runs stuck","inputSchema":{"type":"object","additionalProperties":false}}]}}\
            """);
  }

  @Test
  void shouldListTitleAndHintsOfTool() {
    assertThat(
            tree(LocalClient.open(server.of(new SearchTool()))
                    .ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"))
                .at("/result/tools/0"))
        .isEqualTo(
            tree(
                """
                {"name":"search","title":"Search notes","description":"Searches the notes.",
                 "inputSchema":{"type":"object","additionalProperties":false},
                 "annotations":{"readOnlyHint":true,"destructiveHint":false,
                                "idempotentHint":true,"openWorldHint":false}}
                """));
  }

  private static final class SearchTool implements Tool<NoArguments> {

    @Override
    public String name() {
      return "search";
    }

    @Override
    public Optional<String> title() {
      return Optional.of("Search notes");
    }

    @Override
    public String description() {
      return "Searches the notes.";
    }

    @Override
    public boolean readOnlyHint() {
      return true;
    }

    @Override
    public boolean destructiveHint() {
      return false;
    }

    @Override
    public boolean idempotentHint() {
      return true;
    }

    @Override
    public boolean openWorldHint() {
      return false;
    }

    @Override
    public Class<NoArguments> arguments() {
      return NoArguments.class;
    }

    @Override
    public ToolResult call(NoArguments arguments, ToolCall call) {
      return ToolResult.text("");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tools/list       | {\"cursor\":\"2\"}      | -32602",
        "logging/setLevel | {}                      | -32602",
        "logging/setLevel | {\"level\":\"INFO\"}    | -32602",
        "logging/setLevel | {\"level\":{}}          | -32602",
        "logging/setLevel | []                      | -32602",
        "resources/list   | {}                      | -32601",
        "prompts/list     | {}                      | -32601",
        "initialize       | {}                      | -32601"
      })
  void shouldRefuse(String method, String params, int code) {
    // when
    String response =
        LocalClient.open(upstream)
            .ask(
                """
                {"jsonrpc":"2.0","id":3,"method":"%s","params":%s}
                """
                    .formatted(method, params));

    // then
    assertThat(tree(response).at("/error/code").asInt()).isEqualTo(code);
    assertThat(tree(response).get("id").asInt()).isEqualTo(3);
  }

  @Test
  void shouldAnswerBatchWithoutCallsAsArray() {
    assertThat(
            LocalClient.open(upstream)
                .ask(
                    """
                    [{"jsonrpc":"2.0","id":1,"method":"ping"},
                     {"jsonrpc":"2.0","method":"notifications/initialized"},
                     {"jsonrpc":"2.0","id":"1","method":"ping"}]
                    """))
        .isEqualTo(
            """
            [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"1","result":{}}]\
            """);
  }

  /** Small requests with large answers once took all memory. */
  @Test
  void shouldRefuseBatchWhoseAnswersExceedTheBudget() {
    ByteBudget held = new ByteBudget(10_000);
    String list = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}";
    String batch =
        IntStream.range(0, 1000)
            .mapToObj(list::formatted)
            .collect(Collectors.joining(",", "[", "]"));
    try (LocalUpstream small =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(stuck, alpha), List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "small",
            "1",
            Integer.MAX_VALUE,
            held,
            0)) {
      LocalClient client = LocalClient.open(small);

      assertThatThrownBy(() -> client.ask(batch)).isInstanceOf(UpstreamException.Busy.class);

      assertThat(held.takeShare(0, 10_000)).isEqualTo(10_000 / 8);
      assertThat(client.ask(list.formatted(1))).contains("alpha");
    }
  }

  @Test
  void shouldFailACallWhoseResultIsTooLarge() {
    Tool<?> large = ScriptedTool.waiting("large", _ -> ToolResult.text("x".repeat(5000)));
    Tool<?> chatty =
        ScriptedTool.waiting(
            "chatty",
            call -> {
              try {
                call.log(LogLevel.ERROR, "logger", "x".repeat(5000));
              } catch (IllegalArgumentException tooLarge) {
                return ToolResult.text(String.valueOf(tooLarge.getMessage()));
              }
              return ToolResult.text("");
            });
    try (LocalUpstream limited =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(large, chatty, alpha), List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "limited",
            "1",
            2000,
            new ByteBudget(Long.MAX_VALUE),
            0)) {
      LocalClient client = LocalClient.open(limited);

      assertThat(drain(client.callTool("1", "large")))
          .singleElement()
          .asString()
          .startsWith("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000")
          .contains("The server executed the request", "2000 bytes", "server-message-bytes");
      assertThat(drain(client.callTool("2", "alpha")))
          .singleElement()
          .asString()
          .contains("result");
      assertThat(drain(client.callTool("3", "chatty")))
          .singleElement()
          .asString()
          .contains("A message must not exceed holdfast.limits.server-message-bytes (2000 bytes)");
    }
  }

  @Test
  void shouldAnswerBatchOfOneAsArray() {
    assertThat(
            LocalClient.open(upstream)
                .ask(
                    """
                    [{"jsonrpc":"2.0","id":1,"method":"ping"}]
                    """))
        .isEqualTo(
            """
            [{"jsonrpc":"2.0","id":1,"result":{}}]\
            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        {"jsonrpc":"2.0","method":"notifications/initialized"}\
        """,
        """
        [{"jsonrpc":"2.0","id":1,"result":{}}]\
        """
      })
  void shouldRefuseABodyWithoutARequest(String nothing) {
    LocalClient client = LocalClient.open(upstream);
    assertThatIllegalArgumentException().isThrownBy(() -> client.session().request(body(nothing)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        {"jsonrpc":"2.0","method":"notifications/initialized"}\
        """,
        """
        {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\
        """,
        """
        {"jsonrpc":"2.0","method":"notifications/cancelled"}\
        """,
        """
        [{"jsonrpc":"2.0","id":1,"result":{}}]\
        """
      })
  void shouldContinueAfterMessagesThatNoCallWaitsFor(String message) throws Exception {
    // given
    LocalClient client = LocalClient.open(upstream);
    MessageSource call = client.callTool("1", "stuck");
    started.await();

    // when
    client.send(message);

    // then
    assertThat(client.ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"))
        .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    released.countDown();
    assertThat(drain(call)).singleElement().asString().contains("\"text\":\"released\"");
  }

  @Test
  void shouldHaveNoStandaloneStreamAndNotResume() {
    // given
    LocalClient client = LocalClient.open(upstream);

    // then
    assertThat(client.session().listen(null)).isEmpty();
    assertThatThrownBy(() -> client.session().resume("1"))
        .isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void shouldServeSessionThatAnotherReplicaOpened() {
    // given
    UpstreamLink link = LocalClient.open(upstream).link();
    try (LocalUpstream other =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(alpha), List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "other",
            "1.2")) {

      // when
      LocalClient client = LocalClient.attach(other, link);

      // then
      assertThat(drain(client.callTool("1", "alpha"))).hasSize(1);
    }
  }

  @Test
  void shouldRefuseLinkOfAnotherKindOfServer() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> upstream.attach(new UpstreamLink(null, "2025-11-25")));
  }

  @Test
  void shouldRefuseTwoToolsOfTheSameName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            new LocalUpstream(
                new LocalUpstream.ServerFeatures(
                    List.of(alpha, stuck, alpha), List.of(), List.of()),
                new LogLevelStore.InMemory(),
                "name",
                "1"))
        .withMessage("Two tools have the name \"alpha\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words", "\u00e9cho", "a\n"})
  void shouldRefuseMalformedName(String name) {
    Tool<?> tool = ScriptedTool.waiting(name, _ -> ToolResult.text(""));
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            new LocalUpstream(
                new LocalUpstream.ServerFeatures(List.of(tool), List.of(), List.of()),
                new LogLevelStore.InMemory(),
                "name",
                "1"))
        .withMessageStartingWith("Not a tool name");
  }

  @Test
  void shouldFailRunningCallsWhenClosed() throws Exception {
    // given
    MessageSource answer = LocalClient.open(upstream).callTool("1", "stuck");
    started.await();

    // when
    upstream.close();

    // then
    assertThatThrownBy(answer::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(answer.take()).isEmpty();
  }

  @Test
  void shouldRefuseCallsAndSessionsWhenClosed() {
    // given
    LocalClient client = LocalClient.open(upstream);

    // when
    upstream.close();

    // then
    assertThatThrownBy(() -> client.callTool("1", "alpha"))
        .isInstanceOf(UpstreamException.Unreachable.class);
    assertThatThrownBy(() -> LocalClient.open(upstream))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }
}

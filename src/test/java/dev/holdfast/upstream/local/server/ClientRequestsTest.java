package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.text;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.local.AskingPrompt;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests of running calls to their client: elicitation, sampling and roots. */
@Timeout(30)
class ClientRequestsTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final String ALL = "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}";

  @RegisterExtension final LocalServer server = new LocalServer();

  private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

  enum Size {
    SMALL,
    LARGE
  }

  record Order(String dish, @Min(1) int guests, Size size) {}

  record Deep(Order order) {}

  private ToolResult elicits(ToolCall call) throws InterruptedException {
    return ToolResult.text(call.client().elicit("What?", Order.class, LONG).toString());
  }

  private ToolResult samples(ToolCall call) throws InterruptedException {
    return ToolResult.text(
        call.client().sample(Client.SamplingRequest.of("Why?", 9), LONG).toString());
  }

  private ToolResult lists(ToolCall call) throws InterruptedException {
    return ToolResult.text(call.client().roots(LONG).toString());
  }

  private LocalUpstream upstream() {
    return server.of(
        ScriptedTool.waiting("elicits", this::elicits),
        ScriptedTool.waiting("samples", this::samples),
        ScriptedTool.waiting("lists", this::lists));
  }

  private static LocalClient open(LocalUpstream upstream, String capabilities) {
    return open(upstream, "2025-11-25", capabilities);
  }

  private static LocalClient open(LocalUpstream upstream, String version, String capabilities) {
    return LocalClient.attach(
        upstream,
        Objects.requireNonNull(
            LocalClient.initialize(
                    upstream,
                    """
                    {"jsonrpc":"2.0","id":0,"method":"initialize",
                     "params":{"protocolVersion":"%s","capabilities":%s}}
                    """
                        .formatted(version, capabilities))
                .link()));
  }

  /** Returns the next message of a call. */
  private static JsonNode next(MessageSource source) {
    return tree(text(source.take().getFirst().payload()));
  }

  private static void answer(LocalClient client, JsonNode question, String answer) {
    client.send("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}".formatted(question.get("id"), answer));
  }

  private static String outcome(MessageSource source) {
    return tree(drain(source).getFirst()).at("/result/content/0/text").asText();
  }

  @Test
  void shouldAskUnderTheKeyOfTheTool() {
    // given
    LocalUpstream upstream =
        server.of(
            ScriptedTool.waiting(
                "named",
                call -> {
                  Client client = call.client().withKey("dish.1");
                  try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                    var first = threads.submit(() -> client.elicit("What?", Order.class, LONG));
                    seen.add(call.client().withKey("other").roots(LONG).toString());
                    assertThatIllegalArgumentException()
                        .isThrownBy(() -> client.roots(LONG))
                        .withMessage("Another request waits under the key \"dish.1\"");
                    assertThatIllegalArgumentException()
                        .isThrownBy(() -> client.withKey("a b"))
                        .withMessage("Not a key: \"a b\"");
                    seen.add("refused");
                    return ToolResult.text(first.get() + " " + client.roots(LONG));
                  }
                }));
    LocalClient client = open(upstream, ALL);
    MessageSource call = client.callTool("1", "named");
    List<JsonNode> questions = new ArrayList<>();
    while (questions.size() < 2) {
      call.take().forEach(each -> questions.add(tree(text(each.payload()))));
    }
    JsonNode form =
        questions.stream()
            .filter(each -> each.get("method").asText().startsWith("elicit"))
            .findFirst()
            .orElseThrow();
    JsonNode roots =
        questions.stream().filter(each -> !each.equals(form)).findFirst().orElseThrow();

    // when
    answer(client, roots, "\"result\":{\"roots\":[]}");
    assertThat(take()).isEqualTo("[]");
    assertThat(take()).isEqualTo("refused");
    answer(client, form, "\"result\":{\"action\":\"decline\"}");
    answer(client, next(call), "\"result\":{\"roots\":[]}");

    // then
    assertThat(new RequestId(form.get("id").toString()).key()).isEqualTo("dish.1");
    assertThat(new RequestId(roots.get("id").toString()).key()).isEqualTo("other");
    assertThat(outcome(call)).isEqualTo("Decline[] []");
  }

  private String take() {
    try {
      return Objects.requireNonNull(seen.poll(30, TimeUnit.SECONDS));
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }

  /** Asks which dish it is about. */
  private record AskingMenu() implements AskingPrompt<NoArguments> {

    @Override
    public String name() {
      return "menu";
    }

    @Override
    public String description() {
      return "A menu.";
    }

    @Override
    public Class<NoArguments> arguments() {
      return NoArguments.class;
    }

    @Override
    public List<PromptMessage> get(NoArguments none, Client client) throws Exception {
      return switch (client.elicit("What?", Order.class, LONG)) {
        case Client.ElicitationResult.Accept<Order>(Order order) ->
            List.of(PromptMessage.user("Cook " + order.dish()));
        case Client.ElicitationResult.Decline<Order> _ ->
            throw new InvalidArgumentsException("There is nothing to cook");
        case Client.ElicitationResult.Cancel<Order> _ -> throw new IllegalStateException("secret");
      };
    }
  }

  private LocalClient cook(String capabilities) {
    LocalUpstream upstream =
        server.of(
            new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of(new AskingMenu())));
    return open(upstream, capabilities);
  }

  private static final String GET =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"menu\"}}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "'action':'accept','content':{'dish':'pie','guests':2,'size':'LARGE'}"
            + "| /result/messages/0/content/text | Cook pie",
        "'action':'decline' | /error/message | Invalid params: There is nothing to cook",
        "'action':'cancel' | /error/message | Internal error"
      })
  void shouldLetAPromptAsk(String result, String path, String text) {
    LocalClient client = cook(ALL);
    MessageSource prompt = client.call(GET);

    answer(client, next(prompt), "\"result\":{" + result.replace('\'', '"') + "}");

    assertThat(tree(drain(prompt).getFirst()).at(path).asText()).isEqualTo(text);
  }

  @Test
  void shouldTellThatAPromptNeedsACapability() {
    MessageSource prompt = cook("{}").call(GET);

    JsonNode error = tree(drain(prompt).getFirst()).get("error");

    assertThat(error.get("code").asInt()).isEqualTo(-32603);
    assertThat(error.get("message").asText())
        .isEqualTo("The client cannot be asked for this: elicitation/create");
  }

  @Test
  void shouldSendAnElicitationRequest() {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "elicits");

    // when
    JsonNode question = next(call);

    // then
    assertThat(question.get("method").asText()).isEqualTo("elicitation/create");
    assertThat(question.get("params"))
        .isEqualTo(
            tree(
                """
                {"message":"What?","requestedSchema":{"type":"object",
                 "properties":{"dish":{"type":"string"},"guests":{"type":"integer","minimum":1},
                  "size":{"type":"string","enum":["SMALL","LARGE"]}},
                 "required":["dish","guests","size"]}}
                """));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "'result':{'action':'accept','content':{'dish':'pie','guests':2,'size':'LARGE','x':1}}"
            + "| Accept[form=Order[dish=pie, guests=2, size=LARGE]]",
        "'result':{'action':'decline'} | Decline[]",
        "'result':{'action':'cancel'} | Cancel[]",
        "'result':{'action':'accept','content':{'dish':'pie','guests':0,'size':'LARGE'}}"
            + "| The client's answer does not fit: elicitation/create: guests: must have a minimum"
            + " value of 1",
        "'result':{'action':'accept'}"
            + "| The client's answer does not fit: elicitation/create: required property 'dish'",
        "'result':{'action':'shrug'}"
            + "| The client's answer does not fit: elicitation/create: no such action",
        "'error':{'code':-1,'message':'busy'} | The client refused: elicitation/create: busy"
      })
  void shouldReadElicitationResults(String answer, String outcome) {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "elicits");

    // when
    answer(client, next(call), answer.replace('\'', '"'));

    // then
    assertThat(outcome(call)).startsWith(outcome);
  }

  @Test
  void shouldSendASamplingRequest() {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "samples");

    // when
    JsonNode question = next(call);
    answer(
        client,
        question,
        """
        "result":{"role":"assistant","model":"m","stopReason":"endTurn",
         "content":{"type":"text","text":"so"}}\
        """);

    // then
    assertThat(question.get("method").asText()).isEqualTo("sampling/createMessage");
    assertThat(question.get("params"))
        .isEqualTo(
            tree(
                """
                {"messages":[{"role":"user","content":{"type":"text","text":"Why?"}}],
                 "maxTokens":9}
                """));
    assertThat(outcome(call))
        .isEqualTo("SamplingResult[content=[Text[text=so]], model=m, stopReason=endTurn]");
  }

  @Test
  void shouldRefuseUnknownSamplingContent() {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "samples");

    // when
    answer(client, next(call), "\"result\":{\"model\":\"m\",\"content\":{\"type\":\"smell\"}}");

    // then
    assertThat(outcome(call))
        .isEqualTo("The client's answer does not fit: sampling/createMessage: unknown content");
  }

  @Test
  void shouldListRoots() {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "lists");

    // when
    JsonNode question = next(call);
    answer(
        client,
        question,
        "\"result\":{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"a\"},{\"uri\":\"file:///b\"}]}");

    // then
    assertThat(question.get("method").asText()).isEqualTo("roots/list");
    assertThat(outcome(call))
        .isEqualTo("[Root[uri=file:///a, name=a], Root[uri=file:///b, name=null]]");
  }

  @ParameterizedTest
  @CsvSource({
    "elicits,elicitation/create",
    "samples,sampling/createMessage",
    "lists,roots/list",
  })
  void shouldRefuseRequestsWithoutTheCapability(String tool, String method) {
    // given
    LocalClient client = open(upstream(), "{\"elicitation\":{\"url\":{}}}");

    // then
    assertThat(outcome(client.callTool("1", tool)))
        .isEqualTo("The client cannot be asked for this: " + method);
  }

  /** Another replica opened the session; its capabilities apply here too. */
  @Test
  void shouldKnowTheCapabilitiesOnAnyReplica() {
    // given
    LocalClient there = open(upstream(), "{\"roots\":{}}");
    LocalClient here = LocalClient.attach(upstream(), there.link());

    // then
    assertThat(next(here.callTool("1", "lists")).get("method").asText()).isEqualTo("roots/list");
    assertThat(outcome(here.callTool("2", "samples"))).startsWith("The client cannot be asked");
  }

  @Test
  void shouldUseRequestIdsThatNoOtherReplicaUses() {
    // given
    LocalClient here = open(upstream(), ALL);
    LocalClient there = LocalClient.attach(upstream(), here.link());
    MessageSource mine = here.callTool("1", "lists");
    MessageSource theirs = there.callTool("2", "lists");
    JsonNode myQuestion = next(mine);
    JsonNode theirQuestion = next(theirs);

    // when: both hear of both answers
    for (LocalClient each : List.of(here, there)) {
      answer(each, theirQuestion, "\"result\":{\"roots\":[{\"uri\":\"file:///theirs\"}]}");
      answer(each, myQuestion, "\"result\":{\"roots\":[{\"uri\":\"file:///mine\"}]}");
    }

    // then
    assertThat(outcome(mine)).contains("mine");
    assertThat(outcome(theirs)).contains("theirs");
  }

  @Test
  void shouldIgnoreResponsesFromOtherSessionsAndSecondResponses() {
    // given
    LocalUpstream upstream = upstream();
    LocalClient client = open(upstream, ALL);
    MessageSource call = client.callTool("1", "lists");
    JsonNode question = next(call);

    // when
    answer(open(upstream, ALL), question, "\"error\":{\"code\":1,\"message\":\"no\"}");
    client.send("{\"jsonrpc\":\"2.0\",\"id\":\"unknown\",\"result\":{}}");
    answer(client, question, "\"result\":{\"roots\":[]}");
    answer(client, question, "\"error\":{\"code\":1,\"message\":\"no\"}");

    // then
    assertThat(outcome(call)).isEqualTo("[]");
  }

  @Test
  void shouldAcceptAResponseInABatchWithARequest() {
    // given
    LocalClient client = open(upstream(), ALL);
    MessageSource call = client.callTool("1", "lists");

    // when
    client.ask(
        """
        [{"jsonrpc":"2.0","id":2,"method":"ping"},
         {"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}]
        """
            .formatted(next(call).get("id")));

    // then
    assertThat(outcome(call)).isEqualTo("[]");
  }

  @Test
  void shouldCancelTheRequestAfterTheTimeout() {
    // given
    LocalClient client =
        open(
            server.of(
                ScriptedTool.waiting(
                    "tool", call -> ToolResult.text(call.client().roots(SHORT).toString()))),
            ALL);

    // when
    List<JsonNode> messages =
        drain(client.callTool("1", "tool")).stream().map(LocalClient::tree).toList();

    // then
    assertThat(messages).hasSize(3);
    assertThat(messages.get(1).get("method").asText()).isEqualTo("notifications/cancelled");
    assertThat(messages.get(1).at("/params/requestId")).isEqualTo(messages.get(0).get("id"));
    assertThat(messages.get(2).at("/result/content/0/text").asText())
        .isEqualTo("The client did not answer in time: roots/list");
  }

  @Test
  void shouldStopWaitingWhenTheCallIsCancelled() throws Exception {
    // given
    LocalClient client =
        open(
            server.of(
                ScriptedTool.waiting(
                    "tool",
                    call -> {
                      try {
                        return ToolResult.text(call.client().roots(LONG).toString());
                      } catch (InterruptedException e) {
                        seen.add("interrupted");
                        throw e;
                      }
                    })),
            ALL);
    MessageSource call = client.callTool("1", "tool");
    next(call);

    // when
    client.cancel("1");

    // then
    assertThat(seen.take()).isEqualTo("interrupted");
    assertThat(drain(call)).isEmpty();
  }

  @Test
  void shouldRefuseAFormThatIsNotFlat() {
    // given
    LocalClient client =
        open(
            server.of(
                ScriptedTool.waiting(
                    "tool",
                    call -> {
                      assertThatThrownBy(() -> call.client().elicit("?", Deep.class, LONG))
                          .isInstanceOf(IllegalArgumentException.class)
                          .hasMessage("Not for a form: Deep.order");
                      return ToolResult.text("refused");
                    })),
            ALL);

    // then
    assertThat(outcome(client.callTool("1", "tool"))).isEqualTo("refused");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "elicits | {\"elicitation\":{\"form\":{}}}",
        "samples | {\"sampling\":{}}",
        "lists | {\"roots\":{}}"
      })
  void shouldTellAClientWithoutASessionWhatItMustDeclare(String tool, String needed) {
    LocalClient client = open(upstream(), "2026-07-28", "{}");

    JsonNode error = next(client.callTool("1", tool)).path("error");

    assertThat(error.path("code").asInt()).isEqualTo(-32021);
    assertThat(error.at("/data/requiredCapabilities")).isEqualTo(tree(needed));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "{} | false",
        "{\"elicitation\":{}} | true",
        "{\"elicitation\":{\"form\":{},\"url\":{}}} | true",
        "{\"elicitation\":{\"url\":{}}} | false",
        "{\"elicitation\":true} | false"
      })
  void shouldReadTheElicitationCapability(String capabilities, boolean forms) {
    assertThat(LocalSessionId.create("2025-11-25", tree(capabilities)).capabilities().elicitation())
        .isEqualTo(forms);
  }

  @Test
  void shouldKeepCapabilitiesInTheSessionName() {
    for (String forms : List.of("{}", "false")) {
      JsonNode declared = tree("{\"elicitation\":%s,\"roots\":{}}".formatted(forms));
      LocalSessionId session = LocalSessionId.create("2026-07-28", declared);
      assertThat(session.isForStateless()).isTrue();
      assertThat(session.capabilities())
          .isEqualTo(new Client.Capabilities(forms.equals("{}"), false, true));
      assertThat(LocalSessionId.parse(session.name())).isEqualTo(session);
    }
    assertThat(LocalSessionId.parse("old").capabilities())
        .isEqualTo(new Client.Capabilities(false, false, false));
  }
}

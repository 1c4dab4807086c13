package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tool calls and their responses. */
@Timeout(30)
class LocalCallTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"name\":\"nobody\"}                     | Unknown tool: nobody",
        "{\"name\":\"x\\ud800\"}                   | Unknown tool: x?",
        "{\"name\":7}                              | Invalid params: name must be a string",
        "{}                                        | Invalid params: name must be a string",
        "[\"tool\"]                                | Invalid params: name must be a string",
        "{\"name\":\"tool\",\"arguments\":[]}      | Invalid params: arguments must be an object",
        "{\"name\":\"tool\",\"arguments\":\"\"}    | Invalid params: arguments must be an object"
      })
  void shouldAnswerWrongParametersWithAnError(String params, String message) {
    // given
    LocalClient client = server.clientOf(_ -> ToolResult.text("done"));

    // when
    List<String> messages =
        drain(
            client.call(
                """
                {"jsonrpc":"2.0","id":5,"method":"tools/call","params":%s}
                """
                    .formatted(params)));

    // then
    assertThat(messages).hasSize(1);
    assertThat(tree(messages.getFirst()).at("/error/message").asText()).isEqualTo(message);
    assertThat(tree(messages.getFirst()).at("/error/code").asInt()).isEqualTo(-32602);
    assertThat(tree(messages.getFirst()).get("id").asInt()).isEqualTo(5);
  }

  @Test
  void shouldRefuseANumberThatJavaCannotRepresent() {
    // given
    LocalClient client = server.clientOf(_ -> ToolResult.text("done"));

    // when
    List<String> messages =
        drain(
            client.call(
                """
                {"jsonrpc":"2.0","id":5,"method":"tools/call",
                 "params":{"name":"tool","arguments":{"n":%s}}}
                """
                    .formatted("9".repeat(2000))));

    // then
    assertThat(tree(messages.getFirst()).at("/error/code").asInt()).isEqualTo(-32602);
  }

  @Test
  void shouldCountTheRequestsOfRunningCalls() throws Exception {
    // given
    ByteBudget held = new ByteBudget(100_000);
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    Tool<?> tool =
        ScriptedTool.waiting(
            "tool",
            _ -> {
              began.countDown();
              ends.await();
              return ToolResult.text("done");
            });
    LocalClient client = LocalClient.open(server.of(held, tool));
    String call =
        """
        {"jsonrpc":"2.0","id":%d,"method":"tools/call",
         "params":{"name":"tool","arguments":{},"filler":"%s"}}
        """;
    String filler = "x".repeat(100_000);

    // when
    MessageSource running = client.call(call.formatted(1, filler));
    began.await();
    assertThatThrownBy(() -> client.call(call.formatted(2, filler)))
        .isInstanceOf(UpstreamException.Busy.class);
    ends.countDown();

    // then
    assertThat(drain(running).getFirst()).contains("done");
    assertThat(drain(client.call(call.formatted(2, filler))).getFirst()).contains("done");
    String invalid = call.formatted(3, filler).replace("{},", "[],");
    assertThat(drain(client.call(invalid)).getFirst()).contains("-32602");
    assertThat(held.taken()).isZero();
  }

  @Test
  void shouldSendAFailedResult() {
    // given
    LocalClient client =
        server.clientOf(_ -> ToolResult.error("no such \ud83d\ude00 and half \ud83d"));

    // then
    assertThat(drain(client.callTool("1", "tool")))
        .containsExactly(
            """
            {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text",\
            "text":"no such \ud83d\ude00 and half ?"}],"isError":true}}\
            """);
  }

  @Test
  void shouldHideExceptionFromClientAndLogIt() {
    // given
    Logger logger = Logger.getLogger(ToolRegistry.class.getName());
    Recorder recorder = new Recorder();
    logger.addHandler(recorder);
    logger.setUseParentHandlers(false);
    LocalClient client =
        server.clientOf(_ -> {
          throw new IllegalStateException("secret");
        });

    // when
    List<String> messages;
    try {
      messages = drain(client.callTool("1", "tool"));
    } finally {
      logger.removeHandler(recorder);
      logger.setUseParentHandlers(true);
    }

    // then
    assertThat(messages)
        .containsExactly(
            """
            {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text",\
            "text":"The tool failed."}],"isError":true}}\
            """);
    assertThat(recorder.records)
        .singleElement()
        .satisfies(entry -> {
          assertThat(entry.getMessage()).isEqualTo("a tool failed tool=tool");
          assertThat(entry.getThrown()).hasMessage("secret");
        });
  }

  @Test
  void shouldAnswerWhenTheToolThrowsAnError() {
    // given
    LocalClient client =
        server.clientOf(_ -> {
          throw new StackOverflowError();
        });

    // then
    assertThat(drain(client.callTool("1", "tool")).getFirst()).contains("\"isError\":true");
  }

  @Test
  void shouldRunCallsAtTheSameTimeWithTheirOwnIds() {
    // given
    int calls = 100;
    CyclicBarrier barrier = new CyclicBarrier(calls);
    LocalClient client =
        server.clientOf(_ -> {
          barrier.await();
          return ToolResult.text("done");
        });

    // when
    List<MessageSource> answers = new ArrayList<>();
    for (int id = 0; id < calls; id++) {
      answers.add(client.callTool(String.valueOf(id), "tool"));
    }

    // then
    for (int id = 0; id < calls; id++) {
      List<String> messages = drain(answers.get(id));
      assertThat(messages).hasSize(1);
      assertThat(tree(messages.getFirst()).get("id").asInt()).isEqualTo(id);
    }
  }

  @Test
  void shouldAnswerBatchWithCallsOnOneStream() throws Exception {
    // given
    CyclicBarrier barrier = new CyclicBarrier(2);
    LocalClient client =
        server.clientOf(call -> {
          barrier.await();
          call.progress(1, null, null);
          return ToolResult.text("done");
        });

    // when
    List<String> messages =
        drain(
            client.call(
                """
                [{"jsonrpc":"2.0","id":1,"method":"tools/call",
                  "params":{"name":"tool","_meta":{"progressToken":1}}},
                 {"jsonrpc":"2.0","id":2,"method":"ping"},
                 {"jsonrpc":"2.0","method":"notifications/initialized"},
                 {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nobody"}},
                 {"jsonrpc":"2.0","id":4,"result":{}},
                 {"jsonrpc":"2.0","id":"1","method":"tools/call",
                  "params":{"name":"tool","_meta":{"progressToken":"1"}}}]
                """));

    // then
    assertThat(messages)
        .filteredOn(message -> tree(message).has("id"))
        .extracting(message -> tree(message).get("id").toString())
        .containsExactlyInAnyOrder("1", "2", "3", "\"1\"");
    assertThat(messages)
        .filteredOn(message -> tree(message).has("method"))
        .extracting(message -> tree(message).at("/params/progressToken").toString())
        .containsExactlyInAnyOrder("1", "\"1\"");
  }

  @Test
  void shouldRefuseIdThatIsInUse() throws Exception {
    // given
    CyclicBarrier barrier = new CyclicBarrier(2);
    LocalClient client =
        server.clientOf(_ -> {
          barrier.await();
          return ToolResult.text("done");
        });
    MessageSource first = client.callTool("1", "tool");

    // when
    List<String> refused = drain(client.callTool("1", "tool"));
    barrier.await();

    // then
    assertThat(tree(refused.getFirst()).at("/error/code").asInt()).isEqualTo(-32600);
    assertThat(drain(first)).singleElement().asString().contains("done");
  }

  private static final class Recorder extends Handler {

    private final ConcurrentLinkedQueue<LogRecord> records = new ConcurrentLinkedQueue<>();

    @Override
    public void publish(LogRecord entry) {
      records.add(entry);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}

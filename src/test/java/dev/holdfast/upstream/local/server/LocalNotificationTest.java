package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.text;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Progress and log messages of running calls. */
@Timeout(30)
class LocalNotificationTest {

  @RegisterExtension final LocalServer server = new LocalServer();

  @ParameterizedTest
  @ValueSource(strings = {"1", "\"1\"", "1.0", "9007199254740993", "\"\\u0061\""})
  void shouldEchoIdAndTokenAsTheyAreSpelled(String json) {
    // given
    LocalClient client =
        server.clientOf(call -> {
          call.progress(1, 2.5, "half\nway");
          return ToolResult.text("done");
        });

    // when
    List<String> messages = drain(client.callTool(json, "tool", json));

    // then
    assertThat(messages)
        .containsExactly(
            """
            {"jsonrpc":"2.0","method":"notifications/progress","params":\
            {"progressToken":%s,"progress":1,"total":2.5,"message":"half\\nway"}}\
            """
                .formatted(json),
            """
            {"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\
            """
                .formatted(json));
  }

  @Test
  void shouldSendNoProgressWithoutAToken() {
    // given
    LocalClient client =
        server.clientOf(call -> {
          call.progress(1, null, null);
          return ToolResult.text("done");
        });

    // then
    assertThat(drain(client.callTool("1", "tool"))).hasSize(1);
  }

  @Test
  void shouldLeaveOutTotalAndMessage() {
    // given
    LocalClient client =
        server.clientOf(call -> {
          call.progress(0.5, null, null);
          return ToolResult.text("done");
        });

    // then
    assertThat(drain(client.callTool("1", "tool", "\"t\"")).getFirst())
        .isEqualTo(
            """
            {"jsonrpc":"2.0","method":"notifications/progress",\
            "params":{"progressToken":"t","progress":0.5}}\
            """);
  }

  @Test
  void shouldRefuseProgressThatDoesNotIncrease() {
    // given
    LocalClient client =
        server.clientOf(call -> {
          call.progress(2, null, null);
          for (double bad : new double[] {2, 1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException().isThrownBy(() -> call.progress(bad, null, null));
          }
          assertThatIllegalArgumentException().isThrownBy(() -> call.progress(3, Double.NaN, null));
          call.progress(3, null, null);
          return ToolResult.text("done");
        });

    // then
    assertThat(drain(client.callTool("1", "tool", "1")))
        .extracting(json -> tree(json).at("/params/progress").asText())
        .containsExactly("2", "3", "");
  }

  @ParameterizedTest
  @CsvSource({"debug,8", "info,7", "notice,6", "warning,5", "error,4", "emergency,1"})
  void shouldLogFromTheLevelThatTheClientSet(String level, int messages) {
    // given
    LocalClient client = server.clientOf(LocalNotificationTest::logAtAllLevels);

    // when
    client.setLevel(level);
    List<String> sent = drain(client.callTool("1", "tool"));

    // then
    assertThat(sent).hasSize(messages + 1);
    assertThat(sent.getFirst())
        .isEqualTo(
            """
            {"jsonrpc":"2.0","method":"notifications/message","params":\
            {"level":"%s","logger":"here","data":"a \\"text\\""}}\
            """
                .formatted(level));
  }

  @Test
  void shouldLogFromInfoByDefault() {
    // given
    LocalUpstream upstream =
        server.of(ScriptedTool.waiting("tool", LocalNotificationTest::logAtAllLevels));
    LocalClient.open(upstream).setLevel("emergency");

    // when
    LocalClient other = LocalClient.open(upstream);

    // then
    assertThat(drain(other.callTool("1", "tool"))).hasSize(8);
  }

  @Test
  void shouldForgetLevelWithTheSession() {
    // given
    LocalClient client = server.clientOf(LocalNotificationTest::logAtAllLevels);
    client.setLevel("emergency");

    // when
    client.session().end();

    // then
    assertThat(drain(client.callTool("1", "tool"))).hasSize(8);
  }

  @Test
  void shouldApplyALevelThatIsSetDuringTheCall() throws Exception {
    // given
    Semaphore logged = new Semaphore(0);
    LocalClient client =
        server.clientOf(call -> {
          while (!call.cancelled()) {
            call.log(LogLevel.DEBUG, "here", "a text");
            logged.release();
            Thread.sleep(10);
          }
          return ToolResult.text("cancelled");
        });
    MessageSource answer = client.callTool("1", "tool");
    logged.acquire();

    // when
    client.setLevel("debug");

    // then
    assertThat(text(answer.take().getFirst().payload())).contains("notifications/message");
    answer.close();
  }

  @Test
  void shouldRefuseALevelThatTheStoreDoesNotAccept() {
    UnreliableLogLevelStore levels = new UnreliableLogLevelStore();
    levels.fail(Duration.ZERO);
    try (LocalUpstream upstream =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
            levels,
            "test",
            "1")) {
      LocalClient client = LocalClient.open(upstream);

      assertThat(
              client.ask(
                  """
                  {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}\
                  """))
          .contains("\"id\":1", "-32603");
    }
  }

  private static ToolResult logAtAllLevels(ToolCall call) {
    for (LogLevel level : LogLevel.values()) {
      call.log(level, "here", "a \"text\"");
    }
    return ToolResult.text("done");
  }

  @Test
  void shouldStreamWhileTheToolRuns() throws Exception {
    // given
    CyclicBarrier barrier = new CyclicBarrier(2);
    LocalClient client =
        server.clientOf(call -> {
          call.progress(1, null, null);
          barrier.await();
          return ToolResult.text("done");
        });

    // when
    MessageSource answer = client.callTool("1", "tool", "1");

    // then
    assertThat(answer.take())
        .singleElement()
        .satisfies(message -> assertThat(text(message.payload())).contains("progressToken"));
    barrier.await();
    assertThat(drain(answer)).hasSize(1);
  }
}

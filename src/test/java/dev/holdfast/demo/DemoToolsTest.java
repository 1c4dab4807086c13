package dev.holdfast.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls the demo tools as a client does. */
class DemoToolsTest {

  private final LocalUpstream upstream =
      new LocalUpstream(
          new LocalUpstream.ServerFeatures(Demo.TOOLS, List.of(), List.of()),
          new LogLevelStore.InMemory(),
          "demo",
          "1");

  @AfterEach
  void close() {
    upstream.close();
  }

  private List<String> call(String tool, String arguments) {
    Answer answer =
        session()
            .request(
                body(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":
                     {"name":"%s","arguments":%s,"_meta":{"progressToken":"t"}}}
                    """
                        .formatted(tool, arguments)));
    List<String> messages = new ArrayList<>();
    try (MessageSource source = ((Answer.Stream) answer).source()) {
      for (var batch = source.take(); !batch.isEmpty(); batch = source.take()) {
        batch.forEach(
            message -> messages.add(new String(message.payload(), StandardCharsets.UTF_8)));
      }
    }
    return messages;
  }

  private UpstreamSession session() {
    Body initialize =
        body(
            """
            {"jsonrpc":"2.0","id":0,"method":"initialize",
             "params":{"protocolVersion":"2025-11-25"}}
            """);
    Message.Request request = (Message.Request) ((Body.Single) initialize).message();
    return upstream.attach(Objects.requireNonNull(upstream.initialize(request).link()));
  }

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void shouldEcho() {
    assertThat(call("echo", "{\"message\":\"h\u00e9llo\"}"))
        .containsExactly(
            """
            {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"h\u00e9llo"}]}}\
            """);
  }

  @Test
  void shouldCountDown() {
    assertThat(call("countdown", "{\"from\":3.0,\"intervalMs\":10}"))
        .containsExactly(
            """
            {"jsonrpc":"2.0","method":"notifications/progress","params":\
            {"progressToken":"t","progress":1,"total":3,"message":"T-2"}}\
            """,
            """
            {"jsonrpc":"2.0","method":"notifications/progress","params":\
            {"progressToken":"t","progress":2,"total":3,"message":"T-1"}}\
            """,
            """
            {"jsonrpc":"2.0","method":"notifications/progress","params":\
            {"progressToken":"t","progress":3,"total":3,"message":"T-0"}}\
            """,
            """
            {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"liftoff"}]}}\
            """);
  }

  @Test
  void shouldCountDownFromTenByDefault() {
    // when
    List<String> messages = call("countdown", "{\"intervalMs\":10}");

    // then
    assertThat(messages).hasSize(11);
    assertThat(messages.getFirst()).contains("\"total\":10,\"message\":\"T-9\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"message\":1}", "{\"message\":null}"})
  void shouldEchoOnlyStrings(String arguments) {
    assertThat(call("echo", arguments))
        .singleElement()
        .asString()
        .contains("\"isError\":true", "Invalid arguments: ", "message");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"from\":0}",
        "{\"from\":3601}",
        "{\"from\":1.5}",
        "{\"from\":\"3\"}",
        "{\"from\":1e99}",
        "{\"from\":1,\"intervalMs\":9}",
        "{\"from\":1,\"intervalMs\":60001}",
        "{\"from\":1,\"intervalMs\":99999999999999999999}"
      })
  void shouldRefuseCountdownArgumentsOutsideTheSchema(String arguments) {
    assertThat(call("countdown", arguments))
        .singleElement()
        .asString()
        .contains("\"isError\":true", "Invalid arguments: ");
  }

  @Test
  void shouldCountPrimes() {
    // when
    List<String> messages = call("primes", "{\"upTo\":100}");

    // then
    assertThat(messages).hasSize(101);
    assertThat(messages.getLast())
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text",\
            "text":"{\\"count\\":25,\\"largest\\":97}"}],\
            "structuredContent":{"count":25,"largest":97}}}\
            """);
  }

  @Test
  void shouldFailWithoutTheElicitationCapability() {
    assertThat(call("greet", "{}"))
        .singleElement()
        .asString()
        .contains("\"isError\":true", "The client cannot be asked for this: elicitation/create");
  }
}

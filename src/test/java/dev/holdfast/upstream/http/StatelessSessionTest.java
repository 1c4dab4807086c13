package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to a server without sessions. */
@Timeout(60)
class StatelessSessionTest {

  private static final String JSON = "application/json";
  private static final String SSE = "text/event-stream";
  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
  private static final String MISMATCH =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32020,\"message\":\"no\"}}";
  private static final String META =
      "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private UpstreamSession session(ScriptedServer server, Map<String, String> headers) {
    return session(settings(server.url()), headers);
  }

  private UpstreamSession session(HttpUpstreamSettings settings, Map<String, String> headers) {
    UpstreamLink link =
        new UpstreamLink(null, "2026-07-28")
            .stateless(!headers.isEmpty())
            .with(Caller.UNKNOWN.with(new ForwardedHeaders(headers)));
    return fixture.upstream(settings).attach(link);
  }

  private UpstreamSession session(ScriptedServer server) {
    return session(server, Map.of());
  }

  private static String request(String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s}}"
        .formatted(method, params, META);
  }

  private static String call(String arguments) {
    return request("tools/call", "\"name\":\"t\",\"arguments\":{" + arguments + "},");
  }

  private static String tools(String property) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\"headers\",\"result\":{\"tools\":[{\"name\":\"t\","
        + "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
        + property
        + "}}}]}}";
  }

  private static String property(String name, String type, String header) {
    return "\"%s\":{\"type\":\"%s\",\"x-mcp-header\":\"%s\"}".formatted(name, type, header);
  }

  @ParameterizedTest
  @CsvSource({
    "prompts/get, name, p, p",
    "resources/read, uri, file:///ä, =?base64?ZmlsZTovLy/DpA==?=",
    "tasks/get, taskId, ' x', =?base64?IHg=?=",
    "tools/list, cursor, c, ",
  })
  void shouldRepeatMembersOfTheBodyInHeaders(
      String method, String member, String value, String header) {
    // given
    ScriptedServer server = fixture.server((_, wire) -> wire.answer(200, JSON, RESULT));
    String body = request(method, "\"%s\":\"%s\",".formatted(member, value));

    // when
    Answer answer = session(server).request(body(body));

    // then
    assertThat(texts(takeAll(answer.source()))).containsExactly(RESULT);
    var sent = server.requests().getFirst();
    assertThat(sent.body()).asString().isEqualTo(body);
    assertThat(sent.headers())
        .containsEntry("mcp-method", method)
        .containsEntry("mcp-protocol-version", "2026-07-28")
        .doesNotContainKey("mcp-session-id");
    assertThat(sent.headers().get("mcp-name")).isEqualTo(header);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "7", ""})
  void shouldReturnErrorWithStatusAsAnswer(String id) {
    String error =
        "{\"jsonrpc\":\"2.0\",%s\"error\":{\"code\":-32601,\"message\":\"no\"}}"
            .formatted(id.isEmpty() ? "" : "\"id\":" + id + ",");
    ScriptedServer server = fixture.server((_, wire) -> wire.answer(404, JSON, error));

    Answer answer = session(server).request(body(request("ping", "")));

    assertThat(answer).isInstanceOf(Answer.Json.class);
    assertThat(texts(takeAll(answer.source())).getFirst()).contains("-32601", "\"id\":1");
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 404, 429, 500})
  void shouldFailOnOtherStatuses(int status) {
    ScriptedServer server =
        fixture.server((_, wire) -> wire.answer(status, status == 404 ? "text/plain" : JSON, "{}"));

    assertThatExceptionOfType(UpstreamException.Refused.class)
        .isThrownBy(() -> session(server).request(body(request("tools/list", ""))));
  }

  @Test
  void shouldNeitherResumeNorReportIdsOfEvents() {
    ScriptedServer server =
        fixture.server((_, wire) ->
            wire.answer(200, SSE, event("1", "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}")));
    MessageSource source = session(server).request(body(request("tools/list", ""))).source();

    assertThat(source.take().getFirst().eventId()).isNull();
    assertThat(source.take()).isEmpty();
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void shouldEndSubscriptionWithItsResponse() {
    ScriptedServer server =
        fixture.server((_, wire) -> {
          wire.answer(200, SSE, event("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}") + event(RESULT));
        });
    String listen = request("subscriptions/listen", "\"notifications\":{},");

    assertThat(takeAll(session(server).request(body(listen)).source())).hasSize(2);
  }

  /** A machine that slept does not learn that the connection is dead. */
  @Test
  void shouldEndSubscriptionWhoseConnectionFallsSilent() {
    ScriptedServer server =
        fixture.server((_, wire) -> {
          wire.beginEvents().chunk(event("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}"));
          wire.stall();
        });
    HttpUpstreamSettings settings =
        UpstreamFixture.stallTimeout(Duration.ofMillis(100)).apply(settings(server.url()));
    String listen = request("subscriptions/listen", "\"notifications\":{},");
    MessageSource source = session(settings, Map.of()).request(body(listen)).source();

    assertThat(source.take()).hasSize(1);
    assertThatExceptionOfType(UpstreamException.TimedOut.class).isThrownBy(source::take);
  }

  @Test
  void shouldSendHeadersOfArguments() {
    // given
    ScriptedServer server =
        fixture.server(
            (_, wire) ->
                wire.answer(
                    200,
                    JSON,
                    tools(
                        property("a", "string", "Region")
                            + ","
                            + property("b", "integer", "n")
                            + ","
                            + property("c", "boolean", "gone")
                            + ",\"d\":{\"type\":\"object\",\"properties\":{"
                            + property("e", "string", "inner")
                            + "}}")),
            (_, wire) -> wire.answer(200, JSON, RESULT));
    UpstreamSession session = session(server);
    String call = call("\"a\":\"ü\",\"b\":42,\"c\":null,\"d\":{\"e\":\"x\"}");

    // when
    session.request(body(call)).source().close();
    session.request(body(call)).source().close();

    // then
    assertThat(server.requests()).hasSize(3);
    for (int i = 1; i <= 2; i++) {
      assertThat(server.requests().get(i).headers())
          .containsEntry("mcp-param-region", "=?base64?w7w=?=")
          .containsEntry("mcp-param-n", "42")
          .containsEntry("mcp-param-inner", "x")
          .containsEntry("mcp-name", "t")
          .doesNotContainKey("mcp-param-gone");
    }
  }

  @Test
  void shouldForwardHeadersOfArgumentsFromTheClient() {
    ScriptedServer server = fixture.server((_, wire) -> wire.answer(200, JSON, RESULT));

    session(server, Map.of("mcp-param-region", "eu"))
        .request(body(call("\"a\":\"eu\"")))
        .source()
        .close();

    assertThat(server.requests()).hasSize(1);
    assertThat(server.requests().getFirst().headers()).containsEntry("mcp-param-region", "eu");
  }

  @Test
  void shouldListToolsAgainAfterMismatch() {
    // given
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, tools("")),
            (_, wire) -> wire.answer(400, JSON, MISMATCH),
            (_, wire) -> wire.answer(200, JSON, tools(property("a", "string", "region"))),
            (_, wire) -> wire.answer(200, JSON, RESULT));

    // when
    Answer answer = session(server).request(body(call("\"a\":\"eu\"")));

    // then
    assertThat(texts(takeAll(answer.source()))).containsExactly(RESULT);
    assertThat(server.requests().getLast().headers()).containsEntry("mcp-param-region", "eu");
  }

  @Test
  void shouldReturnMismatchThatNoHeaderMends() {
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, tools("")),
            (_, wire) -> wire.answer(400, JSON, MISMATCH),
            (_, wire) -> wire.answer(200, JSON, tools("")));

    Answer answer = session(server).request(body(call("")));

    assertThat(texts(takeAll(answer.source()))).containsExactly(MISMATCH);
    assertThat(server.requests()).hasSize(3);
  }
}

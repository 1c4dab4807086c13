package dev.holdfast.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.TraceReceiver;
import dev.holdfast.testing.TraceReceiver.Received;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The traces of replicas that share a Redis, at a receiver as any collector is. */
@Timeout(60)
class TracesIT {

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";
  private static final String TRACEPARENT = "00-" + TRACE + "-" + PARENT + "-01";

  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final ScriptedServer server = ScriptedServer.playing(TracesIT::serve);
  @AutoClose private final TraceReceiver receiver = TraceReceiver.start();

  /** A server whose calls do not end before they are resumed. */
  private static void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    if (request.method().equals("GET")) {
      if (request.header("last-event-id") == null) {
        wire.answer(405, "", "");
      } else {
        wire.beginEvents().chunk(event("e2", result(1))).endChunks();
      }
    } else if (request.body().contains("\"initialize\"")) {
      String result =
          """
          {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
          "serverInfo":{"name":"scripted","version":"1"}}}\
          """;
      wire.answer(200, "application/json", result, "Mcp-Session-Id: upstream-session");
    } else if (request.body().contains("tools/call")) {
      wire.beginEvents()
          .chunk(event("e1", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}"))
          .stall();
    } else if (request.body().contains("tools/list")) {
      Matcher id = ID.matcher(request.body());
      assertThat(id.find()).isTrue();
      wire.answer(200, "application/json", result(Integer.parseInt(id.group(1))));
    } else {
      wire.answer(202, "", "");
    }
  }

  private static String event(String id, String data) {
    return "id: " + id + "\ndata: " + data + "\n\n";
  }

  private static String result(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}".formatted(id);
  }

  private static String call(String meta) {
    return """
    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig",\
    "arguments":{"password":"hunter2"},"_meta":{%s}}}\
    """
        .formatted(meta);
  }

  private Map<String, String> settings(String... more) {
    Map<String, String> all = redis.gatewaySettings(more);
    all.put("holdfast.upstream.url", server.url().toString());
    // While traces are on, the gateway's own headers replace those of clients.
    all.put("holdfast.upstream.forward-headers", "traceparent,tracestate");
    all.put("holdfast.cluster.heartbeat", "100ms");
    all.put("holdfast.cluster.dead-after", "500ms");
    return all;
  }

  /** A server over stdio, which lives on the replica that opened the session. */
  private static Path shellServer(Path directory) throws IOException {
    return Files.writeString(
        directory.resolve("server.sh"),
        """
        while IFS= read -r line; do
          case $line in
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",\
        "capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}' ;;
            *tools/call*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
          esac
        done
        """);
  }

  private ScriptedRequest received(String method, String text) {
    return await()
        .until(
            () ->
                server.requests().stream()
                    .filter(each -> each.method().equals(method))
                    .filter(each -> (each.body() + each.headers()).contains(text))
                    .findFirst(),
            found -> found.isPresent())
        .orElseThrow();
  }

  private static String traceparent(Received span) {
    return "00-" + span.trace() + "-" + span.id() + "-01";
  }

  /** A span of the client's trace. */
  private Received span(String name, SpanKind kind) {
    return receiver.await(
        each -> each.name().equals(name) && each.kind() == kind && each.trace().equals(TRACE));
  }

  /** One call: begun at one replica, which is lost, and finished at the other. */
  @Test
  void shouldTraceACallAcrossReplicas(@TempDir Path directory) throws Exception {
    List<Gateway> replicas =
        Gateway.startPair(
            settings(
                "holdfast.trace.endpoint",
                receiver.url().toString(),
                "holdfast.upstreams.shell.command",
                "/bin/sh " + shellServer(directory)));
    try (Gateway first = replicas.get(0);
        Gateway second = replicas.get(1)) {
      callFromOtherReplica(first.url("/servers/shell/mcp"), second.url("/servers/shell/mcp"));

      McpClient client = McpClient.at(first.url());
      FrameStream answer = client.stream(call("\"traceparent\":\"" + TRACEPARENT + "\""));
      answer.event();
      answer.cut();

      Received request = span("tools/call dig", SpanKind.SPAN_KIND_SERVER);
      assertThat(request.parent()).isEqualTo(PARENT);
      assertThat(request.attributes())
          .containsEntry("mcp.method.name", "tools/call")
          .containsEntry("gen_ai.tool.name", "dig")
          .containsEntry("holdfast.upstream", "default")
          .containsEntry("mcp.session.id", client.session().substring(0, 6) + "…")
          .containsEntry("http.response.status_code", "200");
      Received append = span("append", SpanKind.SPAN_KIND_INTERNAL);
      assertThat(append.parent()).isEqualTo(request.id());
      assertThat(append.attributes()).containsEntry("holdfast.events", "1");
      assertThat(span("deliver", SpanKind.SPAN_KIND_INTERNAL).parent()).isEqualTo(request.id());

      // The header tells the server of the call's own span. The message is as the client wrote it.
      ScriptedRequest sent = received("POST", "tools/call");
      assertThat(sent.body()).isEqualTo(call("\"traceparent\":\"" + TRACEPARENT + "\""));
      assertThat(sent.header("traceparent")).startsWith("00-" + TRACE).doesNotContain(PARENT);

      first.kill();
      FrameStream rest = client.elsewhere(second.url()).resume(answer.lastEventId());
      assertThat(rest.event().data()).isEqualTo(result(1));

      Received takeOver = span("take over", SpanKind.SPAN_KIND_INTERNAL);
      assertThat(takeOver.parent()).isEqualTo(request.id());
      assertThat(takeOver.replica()).isNotEmpty().isNotEqualTo(request.replica());
      Received resume = span("resume", SpanKind.SPAN_KIND_CLIENT);
      assertThat(resume.parent()).isEqualTo(takeOver.id());
      assertThat(received("GET", "last-event-id=e1").header("traceparent"))
          .isEqualTo(traceparent(resume));
      receiver.await(each -> each.name().equals("append") && each.parent().equals(takeOver.id()));

      Received replay = receiver.await(each -> each.name().equals("replay"));
      assertThat(replay.links()).containsExactly(request.asLink());
      Received get = receiver.await(each -> each.name().equals("GET"));
      assertThat(replay.parent()).isEqualTo(get.id());
      assertThat(get.trace()).isNotEqualTo(TRACE);

      assertThat(receiver.raw()).doesNotContain(client.session(), "hunter2", "upstream-session");
      String key = redis.keys().stream().filter(each -> each.contains("}:t:")).findFirst().get();
      assertThat(redis.command("GET", key)).isEqualTo("$55");
      assertThat(Long.parseLong(redis.command("PTTL", key).substring(1))).isPositive();

      receiver.close();
      for (int i = 0; i < 50; i++) {
        assertThat(client.elsewhere(second.url()).post(list()).body()).isEqualTo(result(7));
      }
    }
  }

  /** The replica with the process of the session sends what another replica has received. */
  private void callFromOtherReplica(URI owner, URI other) {
    McpClient client = McpClient.at(owner).elsewhere(other);
    assertThat(client.stream(call("")).events().getLast().data()).isEqualTo(result(1));

    Received request = inShell(SpanKind.SPAN_KIND_SERVER);
    Received sent = inShell(SpanKind.SPAN_KIND_CLIENT);
    assertThat(sent.parent()).isEqualTo(request.id());
    assertThat(sent.replica()).isNotEqualTo(request.replica());
  }

  private Received inShell(SpanKind kind) {
    return receiver.await(each ->
        each.name().startsWith("tools/call")
            && each.kind() == kind
            && "shell".equals(each.attributes().get("holdfast.upstream")));
  }

  private static String list() {
    return "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}";
  }

  @Test
  void shouldDoNothingWhileTracesAreOff() {
    try (Gateway gateway = Gateway.start(settings())) {
      McpClient client = McpClient.at(gateway.url());
      FrameStream answer = client.stream(call("\"traceparent\":\"" + TRACEPARENT + "\""));
      answer.event();
      answer.cut();

      assertThat(server.requests())
          .isNotEmpty()
          .allSatisfy(each -> assertThat(each.headers()).doesNotContainKey("traceparent"));
      assertThat(redis.keys()).isNotEmpty().noneMatch(key -> key.contains("}:t:"));
      assertThat(received("POST", "tools/call").body()).contains(TRACEPARENT);
    }
  }
}

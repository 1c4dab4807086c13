package dev.holdfast.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.call.Caller;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One MCP session with an {@link AgentUpstream}, without a gateway between them. */
final class AgentClient {

  static final ObjectMapper JSON = new ObjectMapper();

  private static int sessions;

  private final AgentUpstream upstream;
  private final UpstreamLink link;
  private final String session;

  AgentClient(AgentUpstream upstream, EventLog log) {
    this(upstream, log, "");
  }

  AgentClient(AgentUpstream upstream, EventLog log, String opener) {
    this.upstream = upstream;
    sessions++;
    this.session = "session" + sessions;
    log.begin(new LogKey(session), "");
    Body body =
        read(
            """
            {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
            "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
            """);
    Body.Single single = (Body.Single) body;
    this.link =
        Objects.requireNonNull(
            upstream
                .initialize(
                    (Message.Request) single.message(), Caller.UNKNOWN.at(opener, opener, ""))
                .link());
  }

  private static Body read(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  String session() {
    return session;
  }

  UpstreamSession attach() {
    return upstream.attach(
        new UpstreamLink(link.session(), link.protocolVersion(), session, Caller.UNKNOWN, null));
  }

  MessageSource listen(@Nullable String after) {
    return attach().listen(after).orElseThrow();
  }

  void setLevel(String level) {
    attach()
        .request(
            read(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":"
                    + "{\"level\":\""
                    + level
                    + "\"}}"));
  }

  /** Calls a tool; returns all messages of the call. */
  List<JsonNode> messages(String tool, ObjectNode arguments) {
    ObjectNode call = JSON.createObjectNode().put("jsonrpc", "2.0").put("id", 2);
    call.put("method", "tools/call");
    ObjectNode params = call.putObject("params").put("name", tool);
    params.set("arguments", arguments);
    params.putObject("_meta").put("progressToken", "p");
    List<JsonNode> messages = new ArrayList<>();
    attach()
        .request(read(call.toString()))
        .source()
        .forEach(message -> messages.add(parse(message.payload())));
    return messages;
  }

  static JsonNode parse(byte[] message) {
    try {
      return JSON.readTree(message);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode call(String tool, ObjectNode arguments) {
    return messages(tool, arguments).getLast().path("result");
  }

  /** The structured result of a successful call. */
  JsonNode result(String tool, ObjectNode arguments) {
    JsonNode result = call(tool, arguments);
    assertThat(result.path("isError").asBoolean()).as(result.toString()).isFalse();
    return result.path("structuredContent");
  }

  /** The text of a refused call. */
  String refusal(String tool, ObjectNode arguments) {
    JsonNode result = call(tool, arguments);
    assertThat(result.path("isError").asBoolean()).as(result.toString()).isTrue();
    return result.at("/content/0/text").asText();
  }

  static ObjectNode arguments() {
    return JSON.createObjectNode();
  }

  static ObjectNode message(String text) {
    return arguments().put("message", text);
  }

  static ObjectNode named(String name) {
    return arguments().put("session", name);
  }

  static ObjectNode poll(String name, long since) {
    return named(name).put("since_index", since);
  }

  /** Starts a session; returns its name. */
  String start(String prompt) {
    return result("session_message", message(prompt)).path("session").asText();
  }

  /** Polls until the session is not working any more; returns all events after an index. */
  List<JsonNode> pollToEnd(String name, long since) {
    List<JsonNode> events = new ArrayList<>();
    long index = since;
    while (events.isEmpty() || !isEnd(events.getLast())) {
      JsonNode page =
          result("session_events", poll(name, index).put("wait_ms", 20_000).put("limit", 7));
      assertThat(page.path("events")).as("%s", events).isNotEmpty();
      page.path("events").forEach(events::add);
      index = page.path("next_since_index").asLong();
    }
    return events;
  }

  static boolean isEnd(JsonNode event) {
    return List.of("idle", "closed", "lost").contains(event.path("state").asText());
  }

  /** Reads a stream up to the end of the answer; returns the data of its messages. */
  static List<JsonNode> streamToEnd(MessageSource stream) {
    List<JsonNode> events = new ArrayList<>();
    while (events.isEmpty() || !isEnd(events.getLast())) {
      stream.take().forEach(message -> events.add(parse(message.payload()).at("/params/data")));
    }
    return events;
  }
}

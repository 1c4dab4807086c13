package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A session with a local server; takes and returns JSON texts. */
record LocalClient(UpstreamLink link, UpstreamSession session) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  static LocalClient open(Upstream upstream) {
    Handshake handshake =
        initialize(
            upstream,
            """
            {"jsonrpc":"2.0","id":0,"method":"initialize",
             "params":{"protocolVersion":"2025-11-25","capabilities":{}}}
            """);
    return attach(upstream, Objects.requireNonNull(handshake.link()));
  }

  static LocalClient attach(Upstream upstream, UpstreamLink link) {
    return new LocalClient(link, upstream.attach(link));
  }

  static Handshake initialize(Upstream upstream, String request) {
    Body.Single body = (Body.Single) body(request);
    return upstream.initialize((Message.Request) body.message());
  }

  /** Sends a request with a JSON answer. */
  String ask(String request) {
    Answer answer = session.request(body(request));
    assertThat(answer).isInstanceOf(Answer.Json.class);
    return text(((Answer.Json) answer).json());
  }

  /** Sends a request with a stream as its answer. */
  MessageSource call(String request) {
    Answer answer = session.request(body(request));
    assertThat(answer).isInstanceOf(Answer.Stream.class);
    return ((Answer.Stream) answer).source();
  }

  /** Calls a tool without arguments. */
  MessageSource callTool(String jsonId, String tool) {
    return call(
        "{'jsonrpc':'2.0','id':%s,'method':'tools/call','params':{'name':'%s'}}"
            .replace('\'', '"')
            .formatted(jsonId, tool));
  }

  /** Calls a tool without arguments, with a progress token. */
  MessageSource callTool(String jsonId, String tool, String jsonToken) {
    return call(
        ("{'jsonrpc':'2.0','id':%s,'method':'tools/call',"
                + "'params':{'name':'%s','_meta':{'progressToken':%s}}}")
            .replace('\'', '"')
            .formatted(jsonId, tool, jsonToken));
  }

  void send(String message) {
    session.send(body(message));
  }

  void cancel(String jsonId) {
    send(
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':%s}}"
            .replace('\'', '"')
            .formatted(jsonId));
  }

  void setLevel(String level) {
    String response =
        ask(
            "{'jsonrpc':'2.0','id':1,'method':'logging/setLevel','params':{'level':'%s'}}"
                .replace('\'', '"')
                .formatted(level));
    assertThat(response)
        .isEqualTo(
            """
            {"jsonrpc":"2.0","id":1,"result":{}}\
            """);
  }

  /** Reads a stream to its end. */
  static List<String> drain(MessageSource source) {
    List<String> all = new ArrayList<>();
    for (var some = source.take(); !some.isEmpty(); some = source.take()) {
      for (UpstreamMessage message : some) {
        assertThat(message.eventId()).isNull();
        all.add(text(message.payload()));
      }
    }
    return all;
  }

  static Body body(String json) {
    return Envelopes.read(json.getBytes(StandardCharsets.UTF_8));
  }

  static String text(byte[] json) {
    String text = new String(json, StandardCharsets.UTF_8);
    assertThat(text).doesNotContain("\n", "\r");
    return text;
  }

  static JsonNode tree(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new AssertionError("Not JSON: " + json, e);
    }
  }
}

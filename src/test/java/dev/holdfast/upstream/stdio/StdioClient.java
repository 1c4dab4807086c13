package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** One session, used with JSON texts. */
record StdioClient(UpstreamLink link, UpstreamSession session) {

  static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
          + "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}";

  static StdioClient open(Upstream upstream) {
    UpstreamLink link = Objects.requireNonNull(initialize(upstream).link());
    return new StdioClient(link, upstream.attach(link));
  }

  static Handshake initialize(Upstream upstream) {
    Body.Single body = (Body.Single) body(INITIALIZE);
    return upstream.initialize((Message.Request) body.message());
  }

  /** Sends a request that is answered with JSON. */
  String ask(String id, String code) {
    Answer answer = session.request(body(ShellServer.request(id, "resources/read", code)));
    assertThat(answer).isInstanceOf(Answer.Json.class);
    return text(((Answer.Json) answer).json());
  }

  /** Calls a tool. */
  MessageSource call(String id, String code) {
    return stream(ShellServer.request(id, "tools/call", code));
  }

  /** Calls a tool with a progress token. */
  MessageSource call(String id, String code, String token) {
    return stream(ShellServer.request(id, "tools/call", code, token));
  }

  /** Sends a request that is answered with a stream. */
  MessageSource stream(String request) {
    Answer answer = session.request(body(request));
    assertThat(answer).isInstanceOf(Answer.Stream.class);
    return ((Answer.Stream) answer).source();
  }

  /** Runs code on the server without an answer. */
  void tell(String code) {
    session.send(body(ShellServer.notification(code)));
  }

  void send(String message) {
    session.send(body(message));
  }

  void cancel(String id) {
    send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}}"
            .formatted(id));
  }

  MessageSource listen() {
    return session.listen(null).orElseThrow();
  }

  /** Reads a stream to its end. */
  static List<String> drain(MessageSource source) {
    List<String> all = new ArrayList<>();
    for (var some = source.take(); !some.isEmpty(); some = source.take()) {
      all.addAll(texts(some));
    }
    return all;
  }

  /** Reads {@code count} messages. */
  static List<String> take(MessageSource source, int count) {
    List<String> all = new ArrayList<>();
    while (all.size() < count) {
      List<UpstreamMessage> some = source.take();
      assertThat(some).isNotEmpty();
      all.addAll(texts(some));
    }
    return all;
  }

  private static List<String> texts(List<UpstreamMessage> messages) {
    return messages.stream().map(message -> text(message.payload())).toList();
  }

  static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  static String text(byte[] json) {
    String text = new String(json, UTF_8);
    assertThat(text).doesNotContain("\n", "\r");
    return text;
  }

  /** A response as {@code reply} of the server writes it. */
  static String response(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + result + "}";
  }

  /** A log message as {@code log} of the server writes it. */
  static String logged(String data) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
        + "{\"level\":\"info\",\"data\":\""
        + data
        + "\"}}";
  }
}

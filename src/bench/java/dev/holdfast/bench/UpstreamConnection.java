package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;

/** One connection to a {@link FastUpstream}: answers its requests, one after the other. */
final class UpstreamConnection {

  private static final AtomicLong SESSIONS = new AtomicLong();
  private static final String EVENTS =
      """
      HTTP/1.1 200 OK\r
      Content-Type: text/event-stream\r
      Cache-Control: no-cache\r
      Transfer-Encoding: chunked\r
      \r
      """;
  private static final String SERVER =
      """
      {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},\
      "serverInfo":{"name":"fast","version":"1"}}\
      """;
  private static final String TOOLS =
      """
      {"tools":[{"name":"echo","inputSchema":{"type":"object"}},\
      {"name":"burst","inputSchema":{"type":"object"}}]}\
      """;

  private final HttpInput in;
  private final OutputStream out;
  private final boolean resumable;

  UpstreamConnection(Socket socket, boolean resumable) throws IOException {
    this.in = new HttpInput(socket.getInputStream());
    this.out = socket.getOutputStream();
    this.resumable = resumable;
  }

  /** Answers requests until the client closes the connection. */
  void serve() throws IOException {
    for (HttpHead head = in.head(); head != null; head = in.head()) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      in.body(head, body::write);
      switch (head.method()) {
        case "POST" -> post(head, body.toByteArray());
        case "GET" -> get(head.field("last-event-id"));
        default -> write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      }
    }
  }

  private void get(String lastEventId) throws IOException {
    write(EVENTS);
    if (resumable && !lastEventId.isEmpty()) {
      Burst.after(lastEventId).write(out);
    } else {
      in.awaitEnd();
    }
  }

  private void post(HttpHead head, byte[] body) throws IOException {
    if (Envelopes.read(body) instanceof Body.Single(Message.Request request)) {
      answer(head, request);
    } else {
      write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    }
  }

  private void answer(HttpHead head, Message.Request request) throws IOException {
    switch (request.method()) {
      case "initialize" ->
          json(request, "Mcp-Session-Id: s" + SESSIONS.incrementAndGet() + "\r\n", SERVER);
      case "tools/list" -> json(request, "", TOOLS);
      case "tools/call" -> call(head, request);
      default -> json(request, "", "{}");
    }
  }

  private void call(HttpHead head, Message.Request request) throws IOException {
    String publishTo = head.field("publish-to");
    if ("burst".equals(request.toolName()) && !publishTo.isEmpty()) {
      write("HTTP/1.1 303 See Other\r\nContent-Length: 0\r\n\r\n");
      Burst burst = Burst.of(request, false);
      Thread.startVirtualThread(
          () -> publish(burst, URI.create(publishTo), head.field("mcp-session-id")));
    } else if ("burst".equals(request.toolName())) {
      write(EVENTS);
      Burst.of(request, resumable).write(out);
    } else {
      json(request, "", "{\"content\":[{\"type\":\"text\",\"text\":\"echo\"}]}");
    }
  }

  private static void publish(Burst burst, URI location, String session) {
    try (NchanPublisher publisher = new NchanPublisher(location, session)) {
      Thread.startVirtualThread(() -> burst.publish(publisher));
      publisher.awaitAnswers(burst.count() + 1);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void json(Message.Request request, String headers, String result) throws IOException {
    String body =
        "{\"jsonrpc\":\"2.0\",\"id\":" + request.id().json() + ",\"result\":" + result + "}";
    write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            + headers
            + ("Content-Length: " + body.getBytes(UTF_8).length + "\r\n\r\n")
            + body);
  }

  private void write(String text) throws IOException {
    out.write(text.getBytes(UTF_8));
  }
}

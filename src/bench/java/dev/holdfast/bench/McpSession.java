package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;

/** A client's session, with one connection for its calls. Used by one thread at a time. */
final class McpSession implements AutoCloseable {

  private static final int MAX_BYTES = 8 << 20;
  private static final JsonNumber ID = new JsonNumber("id");
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"benchmark","version":"1"}}}\
      """;
  private static final String STATELESS_HEADERS =
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n";
  private static final String STATELESS_META =
      """
      ,"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
      "io.modelcontextprotocol/clientCapabilities":{},\
      "io.modelcontextprotocol/clientInfo":{"name":"benchmark","version":"1"}\
      """;
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  private final URI url;
  private HttpConnection connection;
  private final String headers;
  private int calls;
  private String firstEventId = "";
  private long untilNoted;
  private String noted = "";

  private McpSession(URI url, HttpConnection connection, String headers) {
    this.url = url;
    this.connection = connection;
    this.headers = headers;
  }

  /**
   * Opens a session, with the handshake that belongs to it.
   *
   * @param more lines that each request has besides its own headers
   */
  static McpSession open(URI url, String more) throws IOException {
    HttpConnection connection = new HttpConnection(url);
    McpSession opening = new McpSession(url, connection, more);
    HttpHead head = connection.send(opening.post(INITIALIZE));
    opening.read(connection, head, (_, _, _) -> {});
    String headers =
        more
            + "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n"
                .formatted(head.field("mcp-session-id"));
    McpSession session = new McpSession(url, connection, headers);
    connection.body(connection.send(session.post(INITIALIZED)), (_, _, _) -> {});
    return session;
  }

  /** A client that has no session. */
  static McpSession without(URI url, String more) throws IOException {
    return new McpSession(url, new HttpConnection(url), more + STATELESS_HEADERS);
  }

  /**
   * Calls a tool and reads its answer to the end.
   *
   * @param messages takes each message of the answer
   * @return the id of the request
   */
  int call(String tool, String arguments, Sink messages) throws IOException {
    int id = ++calls;
    String body =
        """
        {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,\
        "_meta":{"progressToken":%d%s}}}\
        """
            .formatted(id, tool, arguments, id, isStateless() ? STATELESS_META : "");
    String name = isStateless() ? "Mcp-Name: " + tool + "\r\n" : "";
    HttpHead head = connection.send(post(body, name));
    read(connection, head, messages);
    if (head.isEndless()) {
      connection.close();
      connection = new HttpConnection(url);
    }
    return id;
  }

  private boolean isStateless() {
    return headers.endsWith(STATELESS_HEADERS);
  }

  /** The id of the first event of the latest answer; empty if it had none. */
  String firstEventId() {
    return firstEventId;
  }

  /** Notes the id of an event of the next answers, by its number. */
  void note(int number) {
    untilNoted = number;
  }

  /** The id of the event that was to be noted. */
  String noted() {
    return noted;
  }

  /** Reads what came after an event, to the end, on a new connection to any replica. */
  void resume(URI replica, String eventId, Sink messages) throws IOException {
    try (HttpConnection resumed = new HttpConnection(replica)) {
      read(resumed, resumed.send(get("Last-Event-ID: " + eventId + "\r\n")), messages);
    }
  }

  /** Opens the standalone stream, on a connection that the caller closes. */
  HttpConnection listen() throws IOException {
    HttpConnection listening = new HttpConnection(url);
    HttpHead head = listening.send(get(""));
    if (head.status() != 200) {
      throw new WrongResultException(url + " answered " + head.start());
    }
    return listening;
  }

  /** Opens the standalone stream, and needs nothing else any more. */
  HttpConnection waitOnly() throws IOException {
    HttpConnection listening = listen();
    connection.close();
    return listening;
  }

  /** Leaves the session to its time limit. */
  boolean leave() throws IOException {
    connection.close();
    return true;
  }

  /** Ends the session. */
  @Override
  public void close() throws IOException {
    try (HttpConnection last = connection) {
      if (isStateless()) {
        return;
      }
      String end = "DELETE " + url.getPath() + " HTTP/1.1\r\n" + host() + headers + "\r\n";
      last.send(end.getBytes(UTF_8));
    }
  }

  private void read(HttpConnection from, HttpHead head, Sink messages) throws IOException {
    if (head.status() == 200 && head.isEndless()) {
      readUntilAnswer(from, messages);
      return;
    }
    if (head.status() == 200 && head.isEventStream()) {
      firstEventId = "";
      SseParser parser = new SseParser(MAX_BYTES, MAX_BYTES);
      from.body(
          head,
          (array, offset, length) ->
              parser.feed(array, offset, length, event -> event(event, messages)));
      return;
    }
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    from.body(head, json::write);
    if (head.status() != 200) {
      throw new WrongResultException(
          url + " answered " + head.start() + " " + json.toString(UTF_8));
    }
    messages.take(json.toByteArray(), 0, json.size());
  }

  /** The stream stays open after the answer. Its connection can't be used again. */
  private void readUntilAnswer(HttpConnection from, Sink messages) throws IOException {
    AtomicBoolean answered = new AtomicBoolean();
    Sink watched =
        (array, offset, length) -> {
          messages.take(array, offset, length);
          answered.set(ID.in(array, offset, length) != JsonNumber.ABSENT);
        };
    SseParser parser = new SseParser(MAX_BYTES, MAX_BYTES);
    from.body(
        (array, offset, length) ->
            parser.feed(array, offset, length, event -> event(event, watched)),
        answered::get);
  }

  private void event(SseEvent event, Sink messages) {
    if (firstEventId.isEmpty()) {
      firstEventId = event.lastEventId();
    }
    if (event.data().length > 0 && --untilNoted == 0) {
      noted = event.lastEventId();
    }
    // The first event of a stream may have an id only, so that it can be resumed from its start.
    if (event.data().length > 0) {
      messages.take(event.data(), 0, event.data().length);
    }
  }

  private byte[] post(String body) {
    return post(body, "");
  }

  private byte[] post(String body, String more) {
    return ("POST %s HTTP/1.1\r\n%s%s%sAccept: application/json, text/event-stream\r\n"
            + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s")
        .formatted(url.getPath(), host(), headers, more, body.length(), body)
        .getBytes(UTF_8);
  }

  private byte[] get(String more) {
    return "GET %s HTTP/1.1\r\n%s%sAccept: text/event-stream\r\n%s\r\n"
        .formatted(url.getPath(), host(), headers, more)
        .getBytes(UTF_8);
  }

  private String host() {
    return "Host: " + url.getAuthority() + "\r\n";
  }
}

package dev.holdfast.faults.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One connection to a {@link CountingServer}: answers its requests, one after the other. */
final class ServerConnection {

  private static final String JSON = "application/json";
  private static final String SERVER =
      """
      {"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},\
      "serverInfo":{"name":"counting","version":"1"}}\
      """;

  /** An argument that is different in each call. */
  private static final Pattern KEY = Pattern.compile("\"key\":\"[^\"]+\"");

  private static final String GARBAGE = "data: {\"jsonrpc\": well, no\n\n";
  private static final String OVERSIZED =
      "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\""
          + "x".repeat(ServerFault.LARGE)
          + "\"}}\n\n";
  private static final String BLOCK = "x".repeat(32 << 10);

  private final Socket socket;
  private final Server server;
  private final RawConnection wire;

  ServerConnection(Socket socket, Server server) throws IOException {
    this.socket = socket;
    this.server = server;
    this.wire = new RawConnection(socket);
  }

  void serve() throws IOException {
    InputStream in = new BufferedInputStream(socket.getInputStream());
    for (ScriptedRequest request = ScriptedRequest.read(in);
        request != null && !socket.isClosed();
        request = ScriptedRequest.read(in)) {
      server.await(0);
      String session = header(request, "mcp-session-id");
      if (!session.isEmpty() && !server.knows(session)) {
        wire.answer(404, JSON, "{}");
        continue;
      }
      switch (request.method()) {
        case "POST" -> post(session, request.body().getBytes(UTF_8));
        case "GET" -> get(session, header(request, "last-event-id"));
        default -> {
          server.end(session);
          wire.answer(200, "", "");
        }
      }
    }
  }

  private static String header(ScriptedRequest request, String name) {
    String value = request.header(name);
    return value == null ? "" : value;
  }

  private void get(String session, String lastEventId) throws IOException {
    if (!lastEventId.isEmpty()) {
      NumberedMessages.Place place = NumberedMessages.after(lastEventId);
      send(place.feed(), place.seen());
      return;
    }
    NumberedMessages.Ticks ticks = server.ticks(session);
    // A server without ids writes only to connections that are open.
    send(ticks, server.ids() ? 0 : ticks.next() - 1);
  }

  private void post(String session, byte[] body) throws IOException {
    try {
      if (Envelopes.read(body) instanceof Body.Single(Message.Request request)) {
        answer(session, request);
      } else {
        wire.answer(202, "", "");
      }
    } catch (EnvelopeException garbage) {
      wire.answer(400, JSON, "{}");
    }
  }

  private void answer(String session, Message.Request request) throws IOException {
    switch (request.method()) {
      case "initialize" -> json(request, SERVER, "Mcp-Session-Id: " + server.open());
      case "tools/call" -> {
        Matcher key = KEY.matcher(new String(request.bytes(), UTF_8));
        server.received(key.find() ? key.group() : session + " " + request.id().json());
        send(count(request), 0);
      }
      default -> json(request, "{}");
    }
  }

  private void json(Message.Request request, String result, String... headers) throws IOException {
    String id = request.id().json();
    String body = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + result + "}";
    wire.answer(200, JSON, server.trouble() == ServerFault.GARBAGE ? "garbage" : body, headers);
  }

  private static NumberedMessages.Count count(Message.Request request) {
    String json = new String(request.bytes(), UTF_8);
    return new NumberedMessages.Count(
        request.id().json(),
        argument("n", json),
        argument("intervalMs", json),
        argument("payload", json),
        NumberedMessages.now());
  }

  private static int argument(String name, String json) {
    Matcher matcher = Pattern.compile("\"" + name + "\":(\\d+)").matcher(json);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : 1;
  }

  /** Sends what comes after the message of that number, each at its time. */
  private void send(NumberedMessages feed, int seen) throws IOException {
    int torn = server.torn();
    wire.beginEvents();
    if (server.ids()) {
      wire.chunk("id: " + feed.id(seen) + "\nretry: 100\ndata:\n\n");
    }
    for (int number = seen + 1; number == 1 || !feed.isLast(number - 1); number++) {
      server.await(feed.due(number));
      String event = event(feed, number);
      if (torn != server.torn()) {
        wire.chunk(event.substring(0, event.length() / 2)).reset();
        return;
      }
      wire.chunk(event);
    }
    wire.endChunks();
  }

  private String event(NumberedMessages feed, int number) throws IOException {
    String event =
        (server.ids() ? "id: " + feed.id(number) + "\n" : "")
            + ("data: " + feed.message(number) + "\n\n");
    return switch (server.trouble()) {
      // What nobody has asked for is not replaced, so that it can be told whether it is lost.
      case GARBAGE -> feed instanceof NumberedMessages.Ticks ? GARBAGE + event : GARBAGE;
      case ENDLESS -> endless();
      case OVERSIZED -> OVERSIZED + event;
      case NONE, REFUSED, STALLED, TORN, FORGOTTEN -> event;
    };
  }

  private String endless() throws IOException {
    wire.chunk("data: ");
    while (server.trouble() == ServerFault.ENDLESS) {
      wire.chunk(BLOCK);
    }
    throw new IOException("nobody can make sense of what would follow");
  }
}

package dev.holdfast.era.north;

import dev.holdfast.call.SessionId;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/**
 * A server of 2025-11-25 that gives each client a session. Its tool {@code hang} never ends its
 * answer, and {@code mute} never begins one.
 */
final class SessionServer implements AutoCloseable {

  private static final String JSON = "application/json";

  private final ScriptedServer server = ScriptedServer.playing(SessionServer::play);

  URI url() {
    return server.url();
  }

  /** The requests whose bodies contain a text. */
  List<ScriptedRequest> requests(String text) {
    return server.requests().stream().filter(request -> request.body().contains(text)).toList();
  }

  /** The number of sessions that were ended. */
  long ended() {
    return server.requests().stream()
        .filter(request -> request.method().equals("DELETE"))
        .map(request -> request.header("mcp-session-id"))
        .distinct()
        .count();
  }

  private static void play(ScriptedRequest request, RawConnection wire) throws IOException {
    String body = request.body();
    if (!request.method().equals("POST")) {
      wire.answer(request.method().equals("DELETE") ? 204 : 405, "", "");
    } else if (body.contains("\"initialize\"")) {
      wire.answer(
          200,
          JSON,
          result(
              body,
              "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                  + "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"),
          "Mcp-Session-Id: " + SessionId.random().value());
    } else if (body.contains("\"hang\"")) {
      wire.beginEvents();
      String token = StatelessClient.json(body).at("/params/_meta/progressToken").toString();
      wire.chunk(
          "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
              + "{\"progress\":1,\"progressToken\":"
              + token
              + "}}\n\n");
      wire.stall();
    } else if (body.contains("\"mute\"")) {
      wire.stall();
    } else if (body.contains("\"id\"")) {
      wire.answer(200, JSON, result(body, "{\"content\":[]}"));
    } else {
      wire.answer(202, "", "");
    }
  }

  private static String result(String request, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}"
        .formatted(StatelessClient.json(request).path("id"), result);
  }

  @Override
  public void close() {
    server.close();
  }
}

package dev.holdfast.resume;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.ToolRequest;
import java.io.IOException;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An MCP server without memory: it accepts each session id, and the id of an event says all that is
 * needed to continue its stream. So it can continue streams that were recorded long ago.
 */
final class RecordedServer implements AutoCloseable {

  private static final int ENDLESS = 1_000;

  private final ScriptedServer server = ScriptedServer.playing(RecordedServer::play);

  /** Its MCP endpoint. */
  URI url() {
    return server.url();
  }

  /**
   * The request for a call that counts.
   *
   * @param stop the step after which the server says nothing more on the same connection
   */
  static String count(int id, int steps, int stop) {
    return ToolRequest.of(id, "count", "{\"n\":%d,\"stop\":%d}".formatted(steps, stop));
  }

  private static void play(ScriptedRequest request, RawConnection wire) throws IOException {
    String body = request.body();
    String cursor = request.header("last-event-id");
    if (request.method().equals("GET")) {
      // The standalone stream has one event on its first connection, and one on each further one.
      Place place = cursor == null ? new Place("g", ENDLESS, 0) : Place.parse(cursor);
      place.sendTo(wire, place.steps() == ENDLESS ? place.number() + 1 : ENDLESS);
    } else if (body.contains("\"tools/call\"")) {
      new Place(member("id", body), number("n", body), 0).sendTo(wire, number("stop", body));
    } else if (body.contains("\"initialize\"")) {
      String answer =
          """
          {"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
          "serverInfo":{"name":"recorded","version":"1"}}}\
          """
              .formatted(member("id", body));
      wire.answer(200, "application/json", answer, "Mcp-Session-Id: recorded");
    } else {
      wire.answer(202, "", "");
    }
  }

  private static int number(String name, String body) {
    return Integer.parseInt(member(name, body));
  }

  private static String member(String name, String body) {
    Matcher member = Pattern.compile("\"" + name + "\":(\"?\\w+\"?)").matcher(body);
    if (!member.find()) {
      throw new IllegalArgumentException(body);
    }
    return member.group(1);
  }

  /**
   * A place on a stream, which the id of an event names.
   *
   * @param request the id of the request as JSON; {@code g} for the standalone stream
   * @param number of the last event before this place
   */
  private record Place(String request, int steps, int number) {

    static Place parse(String id) {
      String[] parts = id.split(":", 3);
      return new Place(parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
    }

    /** Sends the following events, up to the step after which nothing more comes. */
    void sendTo(RawConnection wire, int stop) throws IOException {
      wire.beginEvents();
      for (int next = number + 1; next <= Math.min(stop, steps + 1); next++) {
        wire.chunk("id: %s:%d:%d\ndata: %s\n\n".formatted(request, steps, next, message(next)));
      }
      if (stop > steps) {
        wire.endChunks();
      } else {
        wire.stall();
      }
    }

    private String message(int step) {
      return step > steps
          ? "{\"jsonrpc\":\"2.0\",\"id\":" + request + ",\"result\":{\"content\":[]}}"
          : "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":"
              + step
              + "}}";
    }
  }

  @Override
  public void close() {
    server.close();
  }
}

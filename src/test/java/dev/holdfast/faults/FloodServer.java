package dev.holdfast.faults;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An MCP server with two tools: {@code echo} answers at once, and {@code flood} first says so many
 * things of so many bytes, as fast as it is listened to.
 */
final class FloodServer implements AutoCloseable {

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final Pattern FLOOD =
      Pattern.compile("\"count\":(\\d+),\"bytes\":(\\d+),\"pauseMillis\":(\\d+)");

  private static final Pattern HOLD = Pattern.compile("\"holdAfter\":(\\d+)");
  private static final Pattern RESULT = Pattern.compile("\"resultBytes\":(\\d+)");

  private final ScriptedServer server = ScriptedServer.playing(this::answer);

  /** One permit for each flood that may go on. */
  private final Semaphore released = new Semaphore(0);

  /** How many floods were heard to their end, by the size of what they say. */
  private final Map<Integer, Integer> floods = new ConcurrentHashMap<>();

  URI url() {
    return server.url();
  }

  /** Settings of a gateway in front of this server, and more. */
  Map<String, String> settings(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("holdfast.upstream.url", url().toString());
    return settings;
  }

  /** How many floods of things of so many bytes were heard to their end. */
  int floodsOf(int bytes) {
    return floods.getOrDefault(bytes, 0);
  }

  /** A call of {@code flood}. */
  static String flood(int id, int count, int bytes, int pauseMillis) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"flood",\
    "arguments":{"count":%d,"bytes":%d,"pauseMillis":%d}}}\
    """
        .formatted(id, count, bytes, pauseMillis);
  }

  /** A call of {@code flood} without pauses, with a result of so many bytes. */
  static String floodWithResult(int id, int count, int bytes, int resultBytes) {
    return flood(id, count, bytes, 0).replace("}}}", ",\"resultBytes\":" + resultBytes + "}}}");
  }

  /** A call of {@code flood} that waits for {@link #release} after so many things. */
  static String heldFlood(int id, int count, int bytes, int holdAfter) {
    return flood(id, count, bytes, 0).replace("}}}", ",\"holdAfter\":" + holdAfter + "}}}");
  }

  /** Lets one call of {@link #heldFlood} go on. */
  void release() {
    released.release();
  }

  /** A call of {@code echo}. */
  static String echo(int id) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}\
    """
        .formatted(id);
  }

  private void answer(ScriptedRequest request, RawConnection wire)
      throws IOException, InterruptedException {
    Matcher id = ID.matcher(request.body());
    if (!request.method().equals("POST")) {
      wire.answer(405, "", "");
    } else if (!id.find()) {
      wire.answer(202, "", "");
    } else if (request.body().contains("\"initialize\"")) {
      String result =
          """
          {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
          "serverInfo":{"name":"flood","version":"1"}}}\
          """;
      wire.answer(200, "application/json", result);
    } else {
      call(request.body(), id.group(1), wire);
    }
  }

  private void call(String body, String id, RawConnection wire)
      throws IOException, InterruptedException {
    wire.beginEvents();
    Matcher flood = FLOOD.matcher(body);
    if (flood.find()) {
      String text = "x".repeat(Integer.parseInt(flood.group(2)));
      for (int n = 1; n <= Integer.parseInt(flood.group(1)); n++) {
        wire.chunk(
            """
            data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",\
            "data":{"n":%d,"text":"%s"}}}

            """
                .formatted(n, text));
        if (n == number(HOLD, body)) {
          released.acquire();
        }
        Thread.sleep(Long.parseLong(flood.group(3)));
      }
      floods.merge(text.length(), 1, Integer::sum);
    }
    wire.chunk(
        "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"text\":\"%s\"}}\n\n"
            .formatted(id, "x".repeat(number(RESULT, body))));
    wire.endChunks();
  }

  private static int number(Pattern pattern, String body) {
    Matcher found = pattern.matcher(body);
    return found.find() ? Integer.parseInt(found.group(1)) : 0;
  }

  @Override
  public void close() {
    server.close();
  }
}

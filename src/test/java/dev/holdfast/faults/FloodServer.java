package dev.holdfast.faults;

import static java.util.Objects.requireNonNull;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An MCP server with two tools: {@code echo} answers at once, and {@code flood} first says so many
 * things of so many bytes, as fast as it is listened to. It speaks Streamable HTTP, and HTTP+SSE of
 * 2024-11-05 at {@link #sse}.
 */
final class FloodServer implements AutoCloseable {

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final Pattern FLOOD =
      Pattern.compile("\"count\":(\\d+),\"bytes\":(\\d+),\"pauseMillis\":(\\d+)");

  private static final Pattern HOLD = Pattern.compile("\"holdAfter\":(\\d+)");
  private static final Pattern RESULT = Pattern.compile("\"resultBytes\":(\\d+)");

  private final ScriptedServer server = ScriptedServer.playing(this::answer);

  /** True if events have ids, from which a client can resume. */
  private final boolean resumable;

  /** The calls of a server whose streams can be resumed, by their ids. */
  private final Map<String, String> calls = new ConcurrentHashMap<>();

  /** The streams of clients over HTTP+SSE, by the targets of their messages. */
  private final Map<String, RawConnection> sessions = new ConcurrentHashMap<>();

  private final AtomicInteger resumed = new AtomicInteger();

  /** One permit for each flood that may go on. */
  private final Semaphore released = new Semaphore(0);

  /** How many floods were heard to their end, by the size of what they say. */
  private final Map<Integer, Integer> floods = new ConcurrentHashMap<>();

  /** Starts a server whose streams cannot be resumed. */
  FloodServer() {
    this(false);
  }

  private FloodServer(boolean resumable) {
    this.resumable = resumable;
  }

  /** Starts a server that gives ids to its events. Each call needs an id of its own. */
  static FloodServer resumable() {
    return new FloodServer(true);
  }

  URI url() {
    return server.url();
  }

  /** Address at which the server speaks HTTP+SSE. */
  URI sse() {
    return url().resolve("/sse");
  }

  /** Number of streams that were resumed. */
  int resumed() {
    return resumed.get();
  }

  /** Settings of a gateway in front of this server, and more. */
  Map<String, String> settings(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("holdfast.upstream.url", url().toString());
    // Floods take all processors.
    settings.put("holdfast.upstream.connect-timeout", "1m");
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
    if (request.method().equals("GET")) {
      get(request, wire);
    } else if (!request.method().equals("POST")) {
      wire.answer(405, "", "");
    } else if (sessions.containsKey(request.target())) {
      wire.answer(202, "", "");
      message(request.body(), requireNonNull(sessions.get(request.target())));
    } else {
      post(request.body(), wire);
    }
  }

  private void get(ScriptedRequest request, RawConnection wire)
      throws IOException, InterruptedException {
    String last = request.header("last-event-id");
    if (request.target().equals("/sse")) {
      String target = "/messages/" + sessions.size();
      wire.beginEvents();
      sessions.put(target, wire);
      wire.chunk("event: endpoint\ndata: " + target + "\n\n").stall();
    } else if (resumable && last != null) {
      resumed.incrementAndGet();
      int dash = last.indexOf('-');
      String id = last.substring(0, dash);
      wire.beginEvents();
      flood(requireNonNull(calls.get(id)), id, Integer.parseInt(last.substring(dash + 1)), wire);
      wire.endChunks();
    } else {
      wire.answer(405, "", "");
    }
  }

  private void post(String body, RawConnection wire) throws IOException, InterruptedException {
    Matcher id = ID.matcher(body);
    if (!id.find()) {
      wire.answer(202, "", "");
    } else if (body.contains("\"initialize\"")) {
      wire.answer(200, "application/json", initialized(id.group(1)));
    } else {
      calls.put(id.group(1), body);
      wire.beginEvents();
      flood(body, id.group(1), 0, wire);
      wire.endChunks();
    }
  }

  private void message(String body, RawConnection wire) throws IOException, InterruptedException {
    Matcher id = ID.matcher(body);
    if (id.find() && body.contains("\"initialize\"")) {
      wire.chunk("data: " + initialized(id.group(1)) + "\n\n");
    } else if (body.contains("\"tools/call\"")) {
      flood(body, id.group(1), 0, wire);
    }
  }

  private static String initialized(String id) {
    return """
    {"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
    "serverInfo":{"name":"flood","version":"1"}}}\
    """
        .formatted(id);
  }

  /** Sends what comes after so many things. */
  private void flood(String body, String id, int after, RawConnection wire)
      throws IOException, InterruptedException {
    Matcher flood = FLOOD.matcher(body);
    int count = 0;
    if (flood.find()) {
      String text = "x".repeat(Integer.parseInt(flood.group(2)));
      count = Integer.parseInt(flood.group(1));
      for (int n = after + 1; n <= count; n++) {
        wire.chunk(
            """
            %sdata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",\
            "data":{"n":%d,"text":"%s"}}}

            """
                .formatted(eventId(id, n), n, text));
        if (n == number(HOLD, body)) {
          released.acquire();
        }
        Thread.sleep(Long.parseLong(flood.group(3)));
      }
      floods.merge(text.length(), 1, Integer::sum);
    }
    wire.chunk(
        "%sdata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"text\":\"%s\"}}\n\n"
            .formatted(eventId(id, count + 1), id, "x".repeat(number(RESULT, body))));
  }

  private String eventId(String call, int number) {
    return resumable ? "id: " + call + "-" + number + "\n" : "";
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

package dev.holdfast.upstream.renewal;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server over Streamable HTTP whose sessions can be lost, as in a restart. Its tool {@code hang}
 * reports a step and never ends. The ids of its events are the same in each session.
 */
final class ForgetfulServer implements AutoCloseable {

  private static final String JSON = "application/json";

  private final AtomicInteger opened = new AtomicInteger();
  private final Map<String, State> sessions = new ConcurrentHashMap<>();
  private final List<RawConnection> streams = new CopyOnWriteArrayList<>();
  private final ScriptedServer server = ScriptedServer.playing(this::play);

  /** The revision that it chooses. */
  volatile String version = "2025-11-25";

  /** Its answer to {@code initialize} if it is not 200. */
  volatile int refusal = 200;

  /** What a client has set in a session. */
  record State(Set<String> levels, Set<String> resources) {
    State() {
      this(ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
    }
  }

  URI url() {
    return server.url();
  }

  /** Its sessions by their ids, which are {@code s-1}, {@code s-2} and so on. */
  Map<String, State> sessions() {
    return Map.copyOf(sessions);
  }

  /** Number of sessions that were opened. */
  int opened() {
    return opened.get();
  }

  /** Requests that have a text in their method, their headers or their body. */
  List<ScriptedRequest> received(String text) {
    return server.requests().stream()
        .filter(each -> (each.method() + each.headers() + each.body()).contains(text))
        .toList();
  }

  /** Loses all sessions. Connections stay. */
  void forget() {
    sessions.clear();
  }

  /** Loses all sessions, and breaks all streams. */
  void restart() {
    forget();
    streams.forEach(ForgetfulServer::reset);
    streams.clear();
  }

  private static void reset(RawConnection stream) {
    try {
      stream.reset();
    } catch (IOException closed) {
      // Its client has closed it.
    }
  }

  private void play(ScriptedRequest request, RawConnection wire) throws IOException {
    String body = request.body();
    if (body.contains("\"initialize\"")) {
      initialize(body, wire);
      return;
    }
    String id = String.valueOf(request.header("mcp-session-id"));
    State state = sessions.get(id);
    if (state == null) {
      wire.answer(404, "text/plain", "unknown session");
    } else if (request.method().equals("DELETE")) {
      sessions.remove(id);
      wire.answer(204, "", "");
    } else if (request.method().equals("GET") || body.contains("\"hang\"")) {
      streams.add(wire);
      wire.beginEvents();
      wire.chunk("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"at/%s\"}\n\n".formatted(id));
      wire.stall();
    } else {
      note(body, state);
      if (body.contains("\"id\"") && body.contains("\"method\"")) {
        wire.answer(200, JSON, result(body, "{\"content\":[],\"session\":\"" + id + "\"}"));
      } else {
        wire.answer(202, "", "");
      }
    }
  }

  private void initialize(String body, RawConnection wire) throws IOException {
    if (refusal != 200) {
      wire.answer(refusal, "text/plain", "refused");
      return;
    }
    String id = "s-" + opened.incrementAndGet();
    sessions.put(id, new State());
    String result =
        "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"
            .formatted(version);
    wire.answer(200, JSON, result(body, result), "Mcp-Session-Id: " + id);
  }

  private static void note(String body, State state) {
    String uri = StatelessClient.json(body).at("/params/uri").asText();
    if (body.contains("logging/setLevel")) {
      state.levels().add(StatelessClient.json(body).at("/params/level").asText());
    } else if (body.contains("resources/subscribe")) {
      state.resources().add(uri);
    } else if (body.contains("resources/unsubscribe")) {
      state.resources().remove(uri);
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

package dev.holdfast.era.south;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A server of 2026-07-28 over HTTP. It answers each method as a test says. */
final class StatelessServer implements AutoCloseable {

  static final String DISCOVERED =
      """
      {"resultType":"complete","supportedVersions":["2026-07-28"],\
      "capabilities":{"tools":{"listChanged":true},"tasks":{}},"ttlMs":0,"cacheScope":"public",\
      "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}}}\
      """;

  private static final String JSON = "application/json";

  /** Answers one request. */
  @FunctionalInterface
  interface Answer {
    void play(String request, RawConnection wire) throws Exception;
  }

  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  final ScriptedServer http = ScriptedServer.playing(this::play);

  StatelessServer() {
    result("server/discover", DISCOVERED);
  }

  void when(String method, Answer answer) {
    answers.put(method, answer);
  }

  void result(String method, String result) {
    when(method, (request, wire) -> wire.answer(200, JSON, response(request, result)));
  }

  void error(String method, int status, int code, String data) {
    when(
        method,
        (request, wire) ->
            wire.answer(
                status,
                JSON,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"no\"%s}}"
                    .formatted(member(request, "id"), code, data)));
  }

  static String response(String request, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(member(request, "id"), result);
  }

  static String member(String json, String... path) {
    return Objects.requireNonNullElse(
        JsonEdit.raw(json.getBytes(StandardCharsets.UTF_8), path), "none");
  }

  private void play(ScriptedRequest request, RawConnection wire) throws Exception {
    String method = JsonEdit.text(member(request.body(), "method"));
    Answer answer = answers.get(String.valueOf(method));
    if (answer == null) {
      error("unknown", 404, -32601, "");
      answer = Objects.requireNonNull(answers.get("unknown"));
    }
    answer.play(request.body(), wire);
  }

  /** The bodies of the requests of a method. */
  List<String> requests(String method) {
    return http.requests().stream()
        .map(ScriptedRequest::body)
        .filter(body -> member(body, "method").equals(JsonEdit.quote(method)))
        .toList();
  }

  @Override
  public void close() {
    http.close();
  }
}

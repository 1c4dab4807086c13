package dev.holdfast.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server that fails on request: the name of the called tool or method selects the failure.
 * Six upstreams are configured. {@code scripted} has the default timeouts, {@code hasty} a timeout
 * of half a second. {@code stuck}, {@code other} and {@code narrow} are for limits per upstream. No
 * server listens at {@code down}.
 */
public final class ScriptedUpstream implements QuarkusTestResourceLifecycleManager {

  /** Text that clients must never see. */
  static final String SECRET = "java.lang.SecretException: password";

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+|\"(?:[^\"\\\\]|\\\\.)*\")");
  private static final Pattern TOOL = Pattern.compile("\"name\":\"([^\"]+)\",\"arguments\"");

  private static final String CAPABILITIES =
      """
      {"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{}}\
      """;

  /** Numbers of messages by method, and of requests without a message by that of HTTP. */
  private static final Map<String, Integer> COUNTS = new ConcurrentHashMap<>();

  /** Answers to the requests of {@code inquire}. */
  private static final BlockingQueue<String> ANSWERS = new LinkedBlockingQueue<>();

  private @Nullable ScriptedServer server;

  /** The number of messages, or of requests without one, with a method that the servers got. */
  static int count(String method) {
    return COUNTS.getOrDefault(method, 0);
  }

  @Override
  public Map<String, String> start() {
    ScriptedServer started = ScriptedServer.playing(ScriptedUpstream::answer);
    server = started;
    return Map.of(
        "holdfast.upstreams.scripted.url",
        started.url().toString(),
        "holdfast.upstreams.stuck.url",
        started.url().toString(),
        "holdfast.upstreams.other.url",
        started.url().toString(),
        "holdfast.upstreams.narrow.url",
        started.url().toString(),
        "holdfast.upstreams.hasty.url",
        started.url().toString(),
        "holdfast.upstreams.hasty.first-byte-timeout",
        "500ms",
        // No server listens on this port (TCPMUX).
        "holdfast.upstreams.down.url",
        "http://127.0.0.1:1/mcp");
  }

  @Override
  public void stop() {
    Objects.requireNonNull(server).close();
  }

  private static void answer(ScriptedRequest request, RawConnection wire) throws IOException {
    String body = request.body();
    COUNTS.merge(body.isEmpty() ? request.method() : method(body), 1, Integer::sum);
    if (request.method().equals("GET")) {
      openStandaloneStream(wire);
    } else if (body.contains("\"initialize\"")) {
      answerJson(
          wire,
          body,
          "{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"serverInfo\":{}}"
              .formatted(body.contains("2025-11-25") ? "2025-11-25" : "2025-03-26", CAPABILITIES));
    } else if (method(body).isEmpty()) {
      ANSWERS.add(body);
      wire.answer(202, "", "");
    } else if (!body.contains("\"id\"")) {
      answerNotification(body, wire);
    } else {
      answerRequest(body, wire);
    }
  }

  /** Sends three notifications on the standalone stream. */
  private static void openStandaloneStream(RawConnection wire) throws IOException {
    wire.beginEvents();
    for (int i = 1; i <= 3; i++) {
      wire.chunk("data: " + notification("unasked " + i) + "\n\n");
    }
    wire.chunk(message("notifications/tools/list_changed", "{}"));
    wire.chunk(message("notifications/prompts/list_changed", "{}"));
    wire.chunk(message("notifications/resources/updated", "{\"uri\":\"a:2\"}"));
    wire.chunk(message("notifications/resources/updated", "{\"uri\":\"a:1\"}"));
    wire.stall();
  }

  private static void answerNotification(String body, RawConnection wire) throws IOException {
    switch (method(body)) {
      case "notifications/crash" -> wire.answer(500, "text/html", SECRET);
      case "notifications/stall" -> wire.stall();
      default -> wire.answer(202, "", "");
    }
  }

  private static void answerRequest(String body, RawConnection wire) throws IOException {
    Matcher tool = TOOL.matcher(body);
    switch (tool.find() ? tool.group(1) : method(body)) {
      case "stall", "resources/list" -> wire.stall();
      case "hang" -> wire.beginEvents().chunk("data: " + notification("almost") + "\n\n").stall();
      case "break" -> wire.beginEvents().chunk("data: " + notification("almost") + "\n\n").reset();
      case "gone" -> wire.answer(404, "text/plain", SECRET);
      case "unauthorized", "prompts/list" ->
          wire.answer(
              401,
              "application/json",
              "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":1,\"message\":\"%s\"}}"
                  .formatted(id(body), SECRET),
              "WWW-Authenticate: Bearer error_description=\"" + SECRET + "\"");
      case "inquire" -> inquire(body, wire);
      case "tools/list" -> answerJson(wire, body, "{\"tools\":[{\"name\":\"wait_for_result\"}]}");
      case "wait" ->
          wire.beginEvents()
              .chunk(
                  message(
                      "notifications/progress",
                      "{\"progress\":1,\"progressToken\":%s}".formatted(token(body))))
              .stall();
      case "sign-in" ->
          error(
              wire,
              body,
              -32042,
              """
              {"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.org/",\
              "message":"Sign in"}]}\
              """);
      case "missing" -> error(wire, body, -32002, "{}");
      case "unknown" -> {
        LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
        error(wire, body, -32601, "{}");
      }
      case "reserved" -> error(wire, body, -32025, "{}");
      case "conflict" -> wire.answer(409, "text/plain", SECRET);
      case "explain", "prompts/get" ->
          wire.answer(
              400,
              "application/json",
              "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32099,\"message\":\"mine\"}}"
                  .formatted(id(body)));
      case "crash", "resources/templates/list" -> wire.answer(500, "text/html", SECRET);
      case "garbage", "completion/complete" -> wire.answer(200, "application/json", SECRET);
      case "resources/read" ->
          wire.beginEvents()
              .chunk("data: " + result(body, "{\"contents\":[]}") + "\n\n")
              .endChunks();
      default -> answerJson(wire, body, "{\"content\":[{\"type\":\"text\",\"text\":\"fine\"}]}");
    }
  }

  /** Asks the client, and returns its answers. */
  private static void inquire(String body, RawConnection wire) throws IOException {
    ANSWERS.clear();
    wire.beginEvents();
    wire.chunk(log("info", "nothing"));
    wire.chunk(log("warning", "careful"));
    wire.chunk(request(90, "ping"));
    wire.chunk(request(91, "roots/list"));
    wire.chunk(request(92, "sampling/createMessage"));
    wire.chunk(request(93, "roots/list"));
    wire.chunk(message("notifications/cancelled", "{\"requestId\":93}"));
    wire.chunk(request(94, "no/such"));
    StringBuilder answers = new StringBuilder();
    try {
      for (int i = 0; i < 4; i++) {
        JsonNode answer = StatelessClient.json(String.valueOf(ANSWERS.poll(20, TimeUnit.SECONDS)));
        JsonNode given = answer.has("error") ? answer.at("/error/code") : answer.path("result");
        answers.append(answer.path("id")).append(':').append(given).append(' ');
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    wire.chunk(
            "data: "
                + result(
                    body,
                    "{\"content\":[{\"type\":\"text\",\"text\":%s}]}"
                        .formatted(TextNode.valueOf(answers.toString())))
                + "\n\n")
        .endChunks();
  }

  private static String request(int id, String method) {
    return "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{}}\n\n"
        .formatted(id, method);
  }

  private static String log(String level, String data) {
    return message(
        "notifications/message", "{\"level\":\"%s\",\"data\":\"%s\"}".formatted(level, data));
  }

  private static String message(String method, String params) {
    return "data: {\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}\n\n"
        .formatted(method, params);
  }

  private static void error(RawConnection wire, String body, int code, String data)
      throws IOException {
    wire.answer(
        200,
        "application/json",
        "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"no\",\"data\":%s}}"
            .formatted(id(body), code, data));
  }

  private static JsonNode token(String body) {
    return StatelessClient.json(body).at("/params/_meta/progressToken");
  }

  private static String method(String body) {
    Matcher method = Pattern.compile("\"method\":\"([^\"]+)\"").matcher(body);
    return method.find() ? method.group(1) : "";
  }

  private static void answerJson(RawConnection wire, String body, String result)
      throws IOException {
    wire.answer(200, "application/json", result(body, result), "Mcp-Session-Id: upstreams-own");
  }

  private static String result(String body, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id(body), result);
  }

  private static String notification(String text) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"%s\"}}"
        .formatted(text);
  }

  private static String id(String body) {
    Matcher id = ID.matcher(body);
    return id.find() ? id.group(1) : "null";
  }
}

package dev.holdfast.http;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
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

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final Pattern TOOL = Pattern.compile("\"name\":\"([^\"]+)\",\"arguments\"");

  private @Nullable ScriptedServer server;

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
    if (request.method().equals("GET")) {
      openStandaloneStream(wire);
    } else if (body.contains("\"initialize\"")) {
      answerJson(
          wire,
          body,
          "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"serverInfo\":{}}"
              .formatted(body.contains("2025-11-25") ? "2025-11-25" : "2025-03-26"));
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

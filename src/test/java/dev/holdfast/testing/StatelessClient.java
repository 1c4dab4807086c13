package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client of revision 2026-07-28, which has no session.
 *
 * @param capabilities as JSON
 * @param headers further headers of each request
 */
public record StatelessClient(
    URI endpoint, String capabilities, Map<String, String> headers, AtomicInteger ids) {

  /** The revision. */
  public static final String VERSION = "2026-07-28";

  private static final String META = "io.modelcontextprotocol/";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** A client that can be asked for everything. */
  public static StatelessClient at(URI endpoint) {
    return new StatelessClient(
        endpoint,
        "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}",
        Map.of(),
        new AtomicInteger());
  }

  /** The same client at another replica. */
  public StatelessClient elsewhere(URI other) {
    return new StatelessClient(other, capabilities, headers, ids);
  }

  /** The same client with other capabilities. */
  public StatelessClient capableOf(String other) {
    return new StatelessClient(endpoint, other, headers, ids);
  }

  /** The same client with a further header. */
  public StatelessClient with(String name, String value) {
    Map<String, String> more = new HashMap<>(headers);
    more.put(name, value);
    return new StatelessClient(endpoint, capabilities, more, ids);
  }

  /** Reads JSON. */
  public static JsonNode json(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException invalid) {
      throw new AssertionError(text, invalid);
    }
  }

  /** The id of the latest request. */
  public int lastId() {
    return ids.get();
  }

  /** Sends a request and returns its response as it comes. */
  public FrameStream stream(String method, String params) {
    return new FrameStream(send(request(method, params), BodyHandlers.ofInputStream()));
  }

  /** Calls a tool and returns the response as it comes. */
  public FrameStream call(String tool, String arguments) {
    return stream("tools/call", params(tool, arguments));
  }

  /** Parameters of a call. */
  public static String params(String tool, String arguments) {
    return "{\"name\":\"%s\",\"arguments\":%s}".formatted(tool, arguments);
  }

  /** Parameters of the next round of a call. */
  public static String round(String params, JsonNode result, Map<String, String> answers) {
    ObjectNode next = (ObjectNode) json(params);
    next.set("requestState", result.path("requestState"));
    answers.forEach((key, answer) -> next.withObject("inputResponses").set(key, json(answer)));
    return next.toString();
  }

  /** Parameters of the next round of a call, with one answer to all that was asked. */
  public static String answered(String params, JsonNode asked, String answer) {
    Map<String, String> answers = new HashMap<>();
    asked
        .at("/result/inputRequests")
        .fieldNames()
        .forEachRemaining(key -> answers.put(key, answer));
    return round(params, asked.path("result"), answers);
  }

  /** Sends a request and waits for the whole response. */
  public HttpResponse<String> post(String method, String params) {
    return send(request(method, params), BodyHandlers.ofString());
  }

  /** The last message of the response to a request. */
  public JsonNode ask(String method, String params) {
    String body = post(method, params).body();
    List<String> data =
        body.lines()
            .filter(line -> line.startsWith("data:"))
            .map(line -> line.substring(5))
            .toList();
    return json(data.isEmpty() ? body : data.getLast());
  }

  /** Goes on after an event. */
  public FrameStream resume(String lastEventId) {
    HttpRequest.Builder get =
        HttpRequest.newBuilder(endpoint)
            .header("Accept", "text/event-stream")
            .header("MCP-Protocol-Version", VERSION)
            .header("Last-Event-ID", lastEventId)
            .GET();
    return new FrameStream(send(get, BodyHandlers.ofInputStream()));
  }

  /** The bytes of a request on a connection of its own. */
  public byte[] raw(String method, String params) {
    String body = body(method, params);
    String head =
        String.join(
            "\r\n",
            "POST " + endpoint.getPath() + " HTTP/1.1",
            "Host: " + endpoint.getAuthority(),
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
            "MCP-Protocol-Version: " + VERSION,
            "Mcp-Method: " + method,
            "Mcp-Name: " + json(params).path("name").asText(),
            "Content-Length: " + body.length(),
            "",
            "");
    return (head + body).getBytes(UTF_8);
  }

  private String body(String method, String params) {
    int id = ids.incrementAndGet();
    ObjectNode with = (ObjectNode) json(params);
    ObjectNode meta = with.withObject("_meta");
    meta.put(META + "protocolVersion", VERSION);
    meta.set(META + "clientCapabilities", json(capabilities));
    meta.putObject(META + "clientInfo").put("name", "test").put("version", "1");
    if (!meta.has("progressToken")) {
      meta.put("progressToken", id);
    }
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}"
        .formatted(id, method, with);
  }

  private HttpRequest.Builder request(String method, String params) {
    JsonNode with = json(params);
    String body = body(method, params);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("MCP-Protocol-Version", VERSION)
            .header("Mcp-Method", method)
            .POST(BodyPublishers.ofByteArray(body.getBytes(UTF_8)));
    String name = with.path("name").asText(with.path("uri").asText(with.path("taskId").asText()));
    if (!name.isEmpty()) {
      request.header("Mcp-Name", name);
    }
    headers.forEach(request::setHeader);
    return request;
  }

  private static <T> HttpResponse<T> send(
      HttpRequest.Builder request, HttpResponse.BodyHandler<T> body) {
    return McpClient.send(request.build(), body);
  }
}

package dev.holdfast.testing;

import dev.holdfast.auth.AccessKey;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One MCP session over Streamable HTTP, with every response as it came: statuses, headers and
 * frames. It never reconnects by itself.
 */
public final class McpClient {

  /** The newest revision with sessions. */
  public static final String NEWEST = "2025-11-25";

  /** No program on the Java SDK, whose HTTP client this is. */
  public static final String USER_AGENT = "holdfast-tests";

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI endpoint;
  private final String version;
  private final HttpResponse<String> initialized;
  private final @Nullable AccessKey key;
  private final AtomicInteger ids = new AtomicInteger();

  private McpClient(
      URI endpoint, String version, HttpResponse<String> initialized, @Nullable AccessKey key) {
    this.endpoint = endpoint;
    this.version = version;
    this.initialized = initialized;
    this.key = key;
  }

  /** Initializes, with the newest revision. */
  public static McpClient at(URI endpoint) {
    return at(endpoint, NEWEST);
  }

  /** Initializes; whether that went well {@link #initialized()} tells. */
  public static McpClient at(URI endpoint, String version) {
    return at(endpoint, version, "test");
  }

  /** Initializes under a name of its own. */
  public static McpClient at(URI endpoint, String version, String name) {
    return at(endpoint, version, name, USER_AGENT);
  }

  /** Initializes as the program of that name and {@code User-Agent}. */
  public static McpClient at(URI endpoint, String version, String name, String userAgent) {
    HttpRequest request =
        post(endpoint, initialize(version, name), null).setHeader("User-Agent", userAgent).build();
    return new McpClient(endpoint, version, send(request, BodyHandlers.ofString()), null);
  }

  /** Initializes with a key or a token, and the revision that has batches. */
  public static McpClient at(URI endpoint, AccessKey key) {
    String version = "2025-03-26";
    HttpRequest request = post(endpoint, initialize(version, "test"), key).build();
    return new McpClient(endpoint, version, send(request, BodyHandlers.ofString()), key);
  }

  /** The same session at another endpoint; ids of calls start at 1 again. */
  public McpClient elsewhere(URI other) {
    return new McpClient(other, version, initialized, key);
  }

  /** The same session with another key or token. */
  public McpClient with(AccessKey other) {
    return new McpClient(endpoint, version, initialized, other);
  }

  /** The key or token. */
  public AccessKey key() {
    return Objects.requireNonNull(key);
  }

  /** The response to {@code initialize}. */
  public HttpResponse<String> initialized() {
    return initialized;
  }

  /** The session's id. */
  public String session() {
    return initialized.headers().firstValue("Mcp-Session-Id").orElseThrow();
  }

  /** Says that the client is ready, upon which the gateway listens to the server. */
  public McpClient ready() {
    post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    return this;
  }

  /** The id of the latest {@link #call}. */
  public int lastId() {
    return ids.get();
  }

  /** Sends a body and waits for the whole response. */
  public HttpResponse<String> post(String body) {
    return send(inSession(post(endpoint, body, key)).build(), BodyHandlers.ofString());
  }

  /** Sends a request and returns the text of the response. */
  public String ask(String body) {
    return post(body).body();
  }

  /** Sends a body and gives the response as it comes. */
  public FrameStream stream(String body) {
    return new FrameStream(
        send(inSession(post(endpoint, body, key)).build(), BodyHandlers.ofInputStream()));
  }

  /** Calls a tool. */
  public FrameStream call(String tool, String arguments) {
    return stream(
        """
        {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":\
        {"name":"%s","arguments":%s}}\
        """
            .formatted(ids.incrementAndGet(), tool, arguments));
  }

  /** Follows the standalone stream. */
  public FrameStream listen() {
    return new FrameStream(send(get().build(), BodyHandlers.ofInputStream()));
  }

  /** Follows a stream from after an event. */
  public FrameStream resume(String lastEventId) {
    return new FrameStream(
        send(get().header("Last-Event-ID", lastEventId).build(), BodyHandlers.ofInputStream()));
  }

  /** Asks for the rest of a stream and waits for the whole response; for those that are refused. */
  public HttpResponse<String> resumeWhole(String lastEventId) {
    return send(get().header("Last-Event-ID", lastEventId).build(), BodyHandlers.ofString());
  }

  /** Ends the session. */
  public HttpResponse<String> delete() {
    return send(inSession(request(endpoint, key)).DELETE().build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder get() {
    return inSession(request(endpoint, key)).header("Accept", "text/event-stream").GET();
  }

  private HttpRequest.Builder inSession(HttpRequest.Builder request) {
    return request.header("Mcp-Session-Id", session()).header("MCP-Protocol-Version", version);
  }

  private static HttpRequest.Builder request(URI endpoint, @Nullable AccessKey key) {
    HttpRequest.Builder request = HttpRequest.newBuilder(endpoint);
    return key == null ? request : request.header("Authorization", "Bearer " + key.value());
  }

  private static HttpRequest.Builder post(URI endpoint, String body, @Nullable AccessKey key) {
    return request(endpoint, key)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .header("User-Agent", USER_AGENT)
        .POST(BodyPublishers.ofString(body));
  }

  /** The request that opens a session. */
  public static String initialize(String version, String name) {
    return """
    {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s",\
    "capabilities":{"elicitation":{}},"clientInfo":{"name":"%s","version":"1"}}}\
    """
        .formatted(version, name);
  }

  /** Waits at most {@link #PATIENCE} for the head; a stream may take longer than that. */
  static <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> body) {
    try {
      HttpRequest bounded =
          HttpRequest.newBuilder(request, (_, _) -> true).timeout(PATIENCE).build();
      return HTTP.send(bounded, body);
    } catch (IOException e) {
      throw new AssertionError(request + " was not answered", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}

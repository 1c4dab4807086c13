package dev.holdfast.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/**
 * One MCP session over HTTP with SSE (2024-11-05), with every response as it came. It never
 * reconnects by itself.
 */
public final class SseClient {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI sse;
  private final FrameStream stream;
  private final String endpoint;

  private SseClient(URI sse) {
    this.sse = sse;
    this.stream = follow(sse, "");
    this.endpoint = stream.event().data();
  }

  /** Opens a session and waits until it knows where to send. */
  public static SseClient at(URI sse) {
    return new SseClient(sse);
  }

  /** Opens a session likewise, and initializes it. */
  public static SseClient initialized(URI sse) {
    SseClient client = at(sse);
    client.post(initialize("0", "2024-11-05"));
    Frame.Event response = client.stream().event();
    if (!response.data().contains("\"result\"")) {
      throw new AssertionError(response);
    }
    client.post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    return client;
  }

  /** The request that initializes a session. */
  public static String initialize(String id, String version) {
    return """
    {"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":"%s",\
    "capabilities":{},"clientInfo":{"name":"sse","version":"1"}}}\
    """
        .formatted(id, version);
  }

  /** The request that calls a tool. */
  public static String call(String id, String tool, String arguments) {
    return """
    {"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\
    """
        .formatted(id, tool, arguments);
  }

  /** The stream that the session was opened with. */
  public FrameStream stream() {
    return stream;
  }

  /** Where the stream said that messages are to be sent. */
  public String endpoint() {
    return endpoint;
  }

  /** The session's id, the last part of the endpoint. */
  public String session() {
    return endpoint.substring(endpoint.lastIndexOf('/') + 1);
  }

  /** Sends a body. */
  public HttpResponse<String> post(String body) {
    try {
      return post(sse.resolve(endpoint), body);
    } catch (IOException e) {
      throw new AssertionError("not answered", e);
    }
  }

  /** Ends the session. */
  public HttpResponse<String> delete() {
    try {
      return send(
          HttpRequest.newBuilder(sse.resolve(endpoint)).DELETE().build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError("not answered", e);
    }
  }

  /** Follows the stream from after an event. */
  public FrameStream resume(String lastEventId) {
    return follow(sse, lastEventId);
  }

  private static FrameStream follow(URI sse, String lastEventId) {
    try {
      return open(sse, lastEventId);
    } catch (IOException e) {
      throw new AssertionError("no stream", e);
    }
  }

  /**
   * Asks for a stream.
   *
   * @param lastEventId empty for none
   * @throws IOException when there is no answer
   */
  public static FrameStream open(URI sse, String lastEventId) throws IOException {
    return open(sse, lastEventId, McpClient.USER_AGENT);
  }

  /** Asks for a stream as the program of that {@code User-Agent}. */
  public static FrameStream open(URI sse, String lastEventId, String userAgent) throws IOException {
    HttpRequest.Builder get =
        HttpRequest.newBuilder(sse)
            .header("Accept", "text/event-stream")
            .header("User-Agent", userAgent);
    if (!lastEventId.isEmpty()) {
      get.header("Last-Event-ID", lastEventId);
    }
    return new FrameStream(send(get.build(), BodyHandlers.ofInputStream()));
  }

  /** Sends a body to where a stream of any replica said. */
  public static HttpResponse<String> post(URI endpoint, String body) throws IOException {
    return send(
        HttpRequest.newBuilder(endpoint)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> body)
      throws IOException {
    try {
      return HTTP.send(
          HttpRequest.newBuilder(request, (_, _) -> true).timeout(PATIENCE).build(), body);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}

package dev.holdfast.resume;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseParser;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Random;

/**
 * A client that follows the specification and nothing else: it keeps the last event id, and when a
 * stream breaks it asks for the rest with {@code Last-Event-ID}, at any replica. It knows nothing
 * of positions or replicas.
 */
final class FollowingClient {

  private static final int ENOUGH = 1 << 20;

  private final HttpClient http;
  private final List<URI> replicas;
  private final String session;

  /**
   * Opens a session.
   *
   * @param replicas any of them is asked, at random
   */
  FollowingClient(HttpClient http, List<URI> replicas, Random random) throws Exception {
    this.http = http;
    this.replicas = replicas;
    HttpRequest.Builder initialize =
        post(
            any(random),
            """
            {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
            "capabilities":{},"clientInfo":{"name":"following","version":"1"}}}\
            """);
    HttpResponse<String> answer =
        http.send(initialize.build(), HttpResponse.BodyHandlers.ofString());
    session = answer.headers().firstValue("Mcp-Session-Id").orElseThrow();
    HttpRequest.Builder initialized =
        post(any(random), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    http.send(
        initialized.header("Mcp-Session-Id", session).build(),
        HttpResponse.BodyHandlers.discarding());
  }

  /** Calls a tool and follows its stream to the end, wherever that takes it. */
  Transcript call(String request, Random random) throws InterruptedException {
    Transcript transcript = new Transcript();
    follow(post(any(random), request).header("Mcp-Session-Id", session).build(), transcript);
    while (!transcript.isComplete() && transcript.canResume()) {
      HttpRequest resume =
          HttpRequest.newBuilder(any(random))
              .header("Accept", "text/event-stream")
              .header("Mcp-Session-Id", session)
              .header("MCP-Protocol-Version", "2025-11-25")
              .header("Last-Event-ID", transcript.lastEventId())
              .GET()
              .build();
      follow(resume, transcript);
    }
    return transcript;
  }

  private void follow(HttpRequest request, Transcript transcript) throws InterruptedException {
    SseParser parser = new SseParser(ENOUGH, ENOUGH);
    parser.resume(transcript.lastEventId());
    try {
      HttpResponse<InputStream> answer =
          http.send(request, HttpResponse.BodyHandlers.ofInputStream());
      transcript.connected(answer.statusCode());
      try (InputStream body = answer.body()) {
        byte[] chunk = new byte[8192];
        for (int n = body.read(chunk); n >= 0; n = body.read(chunk)) {
          parser.feed(chunk, 0, n, event -> transcript.add(id(event), text(event)));
        }
      }
    } catch (IOException cut) {
      transcript.cut();
    }
  }

  private static String id(SseEvent event) {
    return event.lastEventId();
  }

  private static String text(SseEvent event) {
    return new String(event.copyData(), UTF_8);
  }

  private HttpRequest.Builder post(URI replica, String body) {
    return HttpRequest.newBuilder(replica)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  private URI any(Random random) {
    return replicas.get(random.nextInt(replicas.size()));
  }
}

package dev.holdfast.resume;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseParser;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

/**
 * A client that follows the specification and nothing else: it keeps the last event id, and when a
 * stream breaks it asks for the rest with {@code Last-Event-ID}, at any replica. It knows nothing
 * of positions or replicas. It waits before that as long as the stream's {@code retry} says, and
 * {@code Retry-After} when it was turned away. When none answers, it waits a little and asks again.
 */
public final class FollowingClient {

  private static final int ENOUGH = 1 << 20;
  private static final Duration RETRY = Duration.ofMillis(100);

  private final HttpClient http;
  private final List<URI> replicas;
  private final String session;

  /**
   * Opens a session.
   *
   * @param replicas any of them is asked, at random
   */
  public FollowingClient(HttpClient http, List<URI> replicas, Random random)
      throws IOException, InterruptedException {
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

  private FollowingClient(HttpClient http, List<URI> replicas, String session) {
    this.http = http;
    this.replicas = replicas;
    this.session = session;
  }

  /** The same client with the same session, which asks other replicas. */
  public FollowingClient at(List<URI> others) {
    return new FollowingClient(http, others, session);
  }

  /** The name of the session. */
  public String session() {
    return session;
  }

  /** Calls a tool and follows its stream to the end, wherever that takes it. */
  public Transcript call(String request, Random random) throws InterruptedException {
    Transcript transcript = new Transcript();
    do {
      pause(transcript);
      begin(request, random, transcript, seen -> false);
      // A replica that could not be reached, or has refused for now, has seen no call.
    } while (transcript.isAway() && transcript.lastEventId().isEmpty() && transcript.canRetry());
    resume(transcript, random);
    return transcript;
  }

  /**
   * Calls a tool and goes away.
   *
   * @param enough tells when the client has seen enough
   */
  public void begin(
      String request, Random random, Transcript transcript, Predicate<Transcript> enough)
      throws InterruptedException {
    HttpRequest.Builder post = post(any(random), request).header("Mcp-Session-Id", session);
    follow(post.build(), transcript, enough);
  }

  /** Sends what asks for no answer, and gives the status. */
  public int send(String body, Random random) throws IOException, InterruptedException {
    HttpRequest.Builder post = post(any(random), body).header("Mcp-Session-Id", session);
    return http.send(post.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /** Follows a call from where its transcript ends, wherever that takes it. */
  public void resume(Transcript transcript, Random random) throws InterruptedException {
    while (!transcript.isComplete() && transcript.canResume()) {
      pause(transcript);
      follow(get(random, transcript.lastEventId()), transcript, seen -> false);
    }
  }

  /** Follows the standalone stream for as long as it takes. */
  public void listen(Transcript transcript, Random random, Predicate<Transcript> enough)
      throws InterruptedException {
    while (!enough.test(transcript) && transcript.canRetry()) {
      pause(transcript);
      follow(get(random, transcript.lastEventId()), transcript, enough);
    }
  }

  /** Ends the session, at any replica. */
  public void end(Random random) throws IOException, InterruptedException {
    HttpRequest delete =
        HttpRequest.newBuilder(any(random)).header("Mcp-Session-Id", session).DELETE().build();
    http.send(delete, HttpResponse.BodyHandlers.discarding());
  }

  private HttpRequest get(Random random, String lastEventId) {
    HttpRequest.Builder get =
        HttpRequest.newBuilder(any(random))
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", session)
            .header("MCP-Protocol-Version", "2025-11-25");
    if (!lastEventId.isEmpty()) {
      get.header("Last-Event-ID", lastEventId);
    }
    return get.GET().build();
  }

  private static void pause(Transcript transcript) throws InterruptedException {
    Thread.sleep(transcript.pause(RETRY));
  }

  private void follow(HttpRequest request, Transcript transcript, Predicate<Transcript> enough)
      throws InterruptedException {
    SseParser parser = new SseParser(ENOUGH, ENOUGH);
    parser.resume(transcript.lastEventId());
    try {
      HttpResponse<InputStream> answer =
          http.send(request, HttpResponse.BodyHandlers.ofInputStream());
      transcript.connected(answer.statusCode());
      answer.headers().firstValue("Retry-After").ifPresent(transcript::turnedAway);
      try (InputStream body = answer.body()) {
        byte[] chunk = new byte[8192];
        for (int n = body.read(chunk); n >= 0; n = body.read(chunk)) {
          parser.feed(chunk, 0, n, event -> transcript.add(id(event), text(event)));
          if (enough.test(transcript)) {
            return;
          }
        }
      }
    } catch (ConnectException nobodyThere) {
      transcript.unreachable();
    } catch (IOException cut) {
      transcript.cut();
    } finally {
      parser.retry().ifPresent(transcript::retry);
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

package dev.holdfast.resume;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseHandler;
import dev.holdfast.sse.SseParser;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/**
 * A client that follows the specification and nothing else: it keeps the last event id, and when a
 * stream breaks it asks for the rest with {@code Last-Event-ID}, at any replica, after the {@code
 * retry} or {@code Retry-After} that it was told. It knows nothing of positions or replicas.
 */
public final class FollowingClient {

  private static final int ENOUGH = 1 << 20;
  private static final ClientTimeouts PATIENCE = ClientTimeouts.with(Duration.ofSeconds(60));
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"following","version":"1"}}}\
      """;
  private static final String STATELESS_META =
      """
      "io.modelcontextprotocol/protocolVersion":"2026-07-28",\
      "io.modelcontextprotocol/clientCapabilities":{},\
      """;
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  private final HttpClient http;
  private final List<URI> replicas;
  private final ClientTimeouts patience;
  private final String session;

  /**
   * Opens a session.
   *
   * @param replicas any of them is asked, at random
   */
  public FollowingClient(HttpClient http, List<URI> replicas, Random random)
      throws IOException, InterruptedException {
    this(http, replicas, random, PATIENCE);
  }

  /**
   * Opens a session.
   *
   * @param replicas any of them is asked, at random
   * @throws IOException when none is opened
   */
  public FollowingClient(
      HttpClient http, List<URI> replicas, Random random, ClientTimeouts patience)
      throws IOException, InterruptedException {
    this.http = http;
    this.replicas = replicas;
    this.patience = patience;
    HttpResponse<String> answer =
        http.send(
            post(any(random), INITIALIZE).timeout(patience.withAnswer()).build(),
            HttpResponse.BodyHandlers.ofString());
    session =
        answer
            .headers()
            .firstValue("Mcp-Session-Id")
            .orElseThrow(() -> new IOException(answer.statusCode() + " " + answer.body()));
    http.send(
        post(any(random), INITIALIZED)
            .timeout(patience.withAnswer())
            .header("Mcp-Session-Id", session)
            .build(),
        HttpResponse.BodyHandlers.discarding());
  }

  private FollowingClient(
      HttpClient http, List<URI> replicas, ClientTimeouts patience, String session) {
    this.http = http;
    this.replicas = replicas;
    this.patience = patience;
    this.session = session;
  }

  /** A client of 2026-07-28, which has no session. It resumes calls, but follows nothing else. */
  public static FollowingClient stateless(
      HttpClient http, List<URI> replicas, ClientTimeouts patience) {
    return new FollowingClient(http, replicas, patience, "");
  }

  /** A client that goes on with a session that another one has opened. */
  public static FollowingClient of(HttpClient http, List<URI> replicas, String session) {
    return new FollowingClient(http, replicas, PATIENCE, session);
  }

  /** The same client with the same session, which asks other replicas. */
  public FollowingClient at(List<URI> others) {
    return new FollowingClient(http, others, patience, session);
  }

  /** The name of the session. */
  public String session() {
    return session;
  }

  /** Calls a tool and follows its stream to the end, wherever that takes it. */
  public Transcript call(String request, Random random) throws InterruptedException {
    Transcript transcript = new Transcript();
    begin(request, random, transcript, seen -> false);
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
    follow(call(random, request), transcript, enough);
    // A replica that could not be reached, or has refused for now, has seen no call.
    while (transcript.isAway() && transcript.lastEventId().isEmpty() && goesOn(transcript)) {
      Thread.sleep(transcript.pause());
      follow(call(random, request), transcript, enough);
    }
  }

  private HttpRequest call(Random random, String request) {
    if (!isStateless()) {
      return post(any(random), request).header("Mcp-Session-Id", session).build();
    }
    String tool = StatelessClient.json(request).at("/params/name").asText();
    return post(any(random), request.replace("\"_meta\":{", "\"_meta\":{" + STATELESS_META))
        .header("MCP-Protocol-Version", StatelessClient.VERSION)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", tool)
        .build();
  }

  /** True without a session, and so without a standalone stream. */
  public boolean isStateless() {
    return session.isEmpty();
  }

  /** Sends what asks for no answer, and gives the status. */
  public int send(String body, Random random) throws IOException, InterruptedException {
    HttpRequest.Builder post = post(any(random), body).header("Mcp-Session-Id", session);
    return http.send(post.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /** Follows a call from where its transcript ends, wherever that takes it. */
  public void resume(Transcript transcript, Random random) throws InterruptedException {
    while (!transcript.isComplete() && transcript.canResume() && goesOn(transcript)) {
      Thread.sleep(transcript.pause());
      follow(get(random, transcript.lastEventId()), transcript, seen -> false);
    }
  }

  /** Follows the standalone stream for as long as it takes. */
  public void listen(Transcript transcript, Random random, Predicate<Transcript> enough)
      throws InterruptedException {
    follow(get(random, transcript.lastEventId()), transcript, enough);
    while (!enough.test(transcript) && transcript.canRetry() && goesOn(transcript)) {
      Thread.sleep(transcript.pause());
      follow(get(random, transcript.lastEventId()), transcript, enough);
    }
  }

  /** Ends the session, at any replica, and gives the status. */
  public int end(Random random) throws IOException, InterruptedException {
    HttpRequest delete =
        HttpRequest.newBuilder(any(random))
            .timeout(patience.withAnswer())
            .header("Mcp-Session-Id", session)
            .DELETE()
            .build();
    return http.send(delete, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private boolean goesOn(Transcript transcript) {
    if (left(transcript).isNegative()) {
      transcript.hangs();
    }
    return !transcript.isHung();
  }

  private Duration left(Transcript transcript) {
    return patience.withCall().minus(transcript.silence());
  }

  private HttpRequest get(Random random, String lastEventId) {
    HttpRequest.Builder get =
        HttpRequest.newBuilder(any(random)).header("Accept", "text/event-stream");
    if (isStateless()) {
      get.header("MCP-Protocol-Version", StatelessClient.VERSION);
    } else {
      get.header("Mcp-Session-Id", session).header("MCP-Protocol-Version", "2025-11-25");
    }
    if (!lastEventId.isEmpty()) {
      get.header("Last-Event-ID", lastEventId);
    }
    return get.GET().build();
  }

  private void follow(HttpRequest request, Transcript transcript, Predicate<Transcript> enough)
      throws InterruptedException {
    SseParser parser = new SseParser(ENOUGH, ENOUGH);
    parser.resume(transcript.lastEventId());
    SseHandler told = new Telling(transcript);
    GapFinder gaps = new GapFinder();
    try (Chunks chunks = new Chunks()) {
      HttpResponse<Flow.Publisher<List<ByteBuffer>>> answer = send(request, transcript);
      transcript.connected(
          answer.statusCode(), answer.headers().firstValue("Retry-After").orElse(""));
      answer.body().subscribe(chunks);
      for (var next = chunks.next(most(transcript));
          next != null;
          next = chunks.next(most(transcript))) {
        for (ByteBuffer buffer : next) {
          byte[] chunk = new byte[buffer.remaining()];
          buffer.get(chunk);
          gaps.feed(chunk, bytes -> parser.feed(bytes, 0, bytes.length, told), transcript::gap);
        }
        if (enough.test(transcript)) {
          return;
        }
      }
      transcript.ended();
    } catch (ConnectException nobodyThere) {
      transcript.unreachable();
    } catch (IOException cut) {
      transcript.cut(cut instanceof HttpTimeoutException);
      // Also when it wants no more: somebody should have told it long since.
      boolean _ = goesOn(transcript);
    }
  }

  /** Gives up no later than the call, and a moment after, so that this is noticed. */
  private Duration most(Transcript transcript) {
    Duration left = left(transcript).plusMillis(10);
    return left.compareTo(patience.withConnection()) < 0 ? left : patience.withConnection();
  }

  private HttpResponse<Flow.Publisher<List<ByteBuffer>>> send(
      HttpRequest request, Transcript transcript) throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<Flow.Publisher<List<ByteBuffer>>>> answer =
        http.sendAsync(request, HttpResponse.BodyHandlers.ofPublisher());
    try {
      return answer.get(most(transcript).toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException silence) {
      answer.cancel(true);
      throw new HttpTimeoutException("no answer");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException cause ? cause : new IOException(failed);
    }
  }

  private static HttpRequest.Builder post(URI replica, String body) {
    return HttpRequest.newBuilder(replica)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .header("User-Agent", McpClient.USER_AGENT)
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  private URI any(Random random) {
    return replicas.get(random.nextInt(replicas.size()));
  }

  private record Telling(Transcript transcript) implements SseHandler {
    @Override
    public void event(SseEvent event) {
      transcript.add(event.lastEventId(), new String(event.data(), UTF_8));
    }

    @Override
    public void retry(Duration delay) {
      transcript.retryAfter(delay);
    }
  }
}

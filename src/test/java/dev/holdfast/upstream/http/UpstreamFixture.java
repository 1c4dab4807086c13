package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.http.HttpUpstreamSettings.Reconnection;
import io.vertx.core.Vertx;
import io.vertx.core.impl.ContextInternal;
import io.vertx.core.impl.VertxInternal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Builds upstreams in front of scripted servers, and closes all of it after each test. */
public final class UpstreamFixture implements AfterEachCallback {

  static final UpstreamLink LINK = new UpstreamLink("up-1", "2025-11-25");

  private final Vertx vertx = Vertx.vertx();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Settings with time-outs of 10 s, so that a busy machine is fast enough. */
  public static HttpUpstreamSettings settings(URI url) {
    Duration timeout = Duration.ofSeconds(10);
    Reconnection reconnection = new Reconnection(Duration.ofSeconds(5), 3, Duration.ZERO);
    return settings(
        url,
        Map.of(),
        timeout,
        timeout,
        timeout,
        1 << 20,
        reconnection,
        HttpUpstreamSettings.MOST_CONNECTIONS);
  }

  /** Settings without headers of traces and of clients, and without TLS of its own. */
  static HttpUpstreamSettings settings(
      URI url,
      Map<String, String> headers,
      Duration connectTimeout,
      Duration firstByteTimeout,
      Duration idleTimeout,
      int maxMessageBytes,
      Reconnection reconnection,
      int maxConnections) {
    return new HttpUpstreamSettings(
        url,
        new RequestHeaders(headers, Set.of(), null),
        connectTimeout,
        reconnection,
        maxConnections,
        null,
        Credentials.NONE,
        new Channel.Settings("test", 2, 2, firstByteTimeout, idleTimeout, maxMessageBytes, false));
  }

  public static UnaryOperator<HttpUpstreamSettings> timeouts(Duration firstByte, Duration idle) {
    return s ->
        copy(
            s,
            s.headers().fixed(),
            firstByte,
            idle,
            s.reconnection().stallTimeout(),
            s.maxConnections());
  }

  public static UnaryOperator<HttpUpstreamSettings> stallTimeout(Duration stall) {
    return s ->
        copy(
            s,
            s.headers().fixed(),
            s.channel().firstByteTimeout(),
            s.channel().idleTimeout(),
            stall,
            s.maxConnections());
  }

  /** For servers that have resumed no stream. */
  static UnaryOperator<HttpUpstreamSettings> answerTimeout(Duration answer) {
    return s ->
        settings(
            s.url(),
            s.headers().fixed(),
            s.connectTimeout(),
            s.channel().firstByteTimeout(),
            s.channel().idleTimeout(),
            s.channel().maxMessageBytes(),
            new Reconnection(Duration.ofSeconds(5), 3, Duration.ZERO, answer),
            s.maxConnections());
  }

  public static UnaryOperator<HttpUpstreamSettings> maxConnections(int most) {
    return s ->
        copy(
            s,
            s.headers().fixed(),
            s.channel().firstByteTimeout(),
            s.channel().idleTimeout(),
            s.reconnection().stallTimeout(),
            most);
  }

  public static UnaryOperator<HttpUpstreamSettings> headers(Map<String, String> headers) {
    return s ->
        copy(
            s,
            headers,
            s.channel().firstByteTimeout(),
            s.channel().idleTimeout(),
            s.reconnection().stallTimeout(),
            s.maxConnections());
  }

  static UnaryOperator<HttpUpstreamSettings> tls(ClientTls tls) {
    return s -> with(s, s.headers().traces(), tls, s.credentials());
  }

  public static UnaryOperator<HttpUpstreamSettings> credentials(Credentials credentials) {
    return s -> with(s, s.headers().traces(), s.tls(), credentials);
  }

  static UnaryOperator<HttpUpstreamSettings> traceHeaders(Supplier<Map<String, String>> headers) {
    return s -> with(s, headers, s.tls(), s.credentials());
  }

  private static HttpUpstreamSettings with(
      HttpUpstreamSettings s,
      @Nullable Supplier<Map<String, String>> traceHeaders,
      @Nullable ClientTls tls,
      Credentials credentials) {
    return new HttpUpstreamSettings(
        s.url(),
        new RequestHeaders(s.headers().fixed(), s.headers().forwarded(), traceHeaders),
        s.connectTimeout(),
        s.reconnection(),
        s.maxConnections(),
        tls,
        credentials,
        new Channel.Settings(
            "test",
            2,
            2,
            s.channel().firstByteTimeout(),
            s.channel().idleTimeout(),
            s.channel().maxMessageBytes(),
            false));
  }

  /** The same settings for an upstream with a name, at most so many sessions, and respawns. */
  static HttpUpstreamSettings sessions(
      HttpUpstreamSettings s, String name, int most, boolean respawn) {
    Channel.Settings channel = s.channel();
    return new HttpUpstreamSettings(
        s.url(),
        s.headers(),
        s.connectTimeout(),
        s.reconnection(),
        s.maxConnections(),
        s.tls(),
        s.credentials(),
        new Channel.Settings(
            name,
            most,
            most,
            channel.firstByteTimeout(),
            channel.idleTimeout(),
            channel.maxMessageBytes(),
            respawn));
  }

  private static HttpUpstreamSettings copy(
      HttpUpstreamSettings s,
      Map<String, String> headers,
      Duration firstByte,
      Duration idle,
      Duration stall,
      int maxConnections) {
    return settings(
        s.url(),
        headers,
        s.connectTimeout(),
        firstByte,
        idle,
        s.channel().maxMessageBytes(),
        new Reconnection(s.reconnection().maxDelay(), s.reconnection().attempts(), stall),
        maxConnections);
  }

  /** Returns the defaults for a server: no headers, 5 s, 5 min, 5 min, 4 MiB. */
  static HttpUpstreamSettings defaults(URI url) {
    return settings(
        url,
        Map.of(),
        Duration.ofSeconds(5),
        Duration.ofMinutes(5),
        Duration.ofMinutes(5),
        4 << 20,
        Reconnection.DEFAULT,
        HttpUpstreamSettings.MOST_CONNECTIONS);
  }

  public ScriptedServer server(ScriptedServer.Script... scripts) {
    ScriptedServer server = ScriptedServer.playing(scripts);
    open.push(server);
    return server;
  }

  int eventLoops() {
    return HttpClients.eventLoops(vertx);
  }

  ContextInternal context(boolean worker) {
    VertxInternal internal = (VertxInternal) vertx;
    return worker ? internal.createWorkerContext() : internal.createEventLoopContext();
  }

  private HttpClients clients(HttpUpstreamSettings settings) {
    return new HttpClients(vertx, settings, ByteBudget.ofHeap(8, Long.MAX_VALUE));
  }

  public HttpUpstream upstream(HttpUpstreamSettings settings) {
    HttpUpstream upstream = new HttpUpstream(clients(settings), settings);
    open.push(upstream);
    return upstream;
  }

  /** An HTTP+SSE server with at most two sessions at a time. */
  public LegacyUpstream legacy(HttpUpstreamSettings settings, boolean respawn) {
    LegacyUpstream upstream =
        new LegacyUpstream(clients(settings), sessions(settings, "test", 2, respawn));
    open.push(upstream);
    return upstream;
  }

  /** A server that speaks either transport. */
  DetectingUpstream detecting(HttpUpstreamSettings settings) {
    DetectingUpstream upstream =
        new DetectingUpstream(clients(settings), sessions(settings, "test", 2, false));
    open.push(upstream);
    return upstream;
  }

  /** Closes a resource after the test, in reverse order. */
  public <T extends AutoCloseable> T closing(T resource) {
    open.push(resource);
    return resource;
  }

  public UpstreamSession session(ScriptedServer server) {
    return session(server, UnaryOperator.identity());
  }

  public UpstreamSession session(
      ScriptedServer server, UnaryOperator<HttpUpstreamSettings> change) {
    return upstream(change.apply(settings(server.url()))).attach(LINK);
  }

  /** Sends a request that is answered with a stream. */
  public MessageSource call(UpstreamSession session) {
    Answer answer = session.request(call(1));
    assertThat(answer).isInstanceOf(Answer.Stream.class);
    MessageSource source = ((Answer.Stream) answer).source();
    open.push(source);
    return source;
  }

  public static Body call(int id) {
    return body(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{}}".formatted(id));
  }

  public static Body body(String json) {
    return Envelopes.read(json.getBytes(StandardCharsets.UTF_8));
  }

  public static Message.Request initialize() {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
            + "\"params\":{\"protocolVersion\":\"2025-11-25\"}}";
    return request(json);
  }

  static Message.Request request(String json) {
    return (Message.Request) ((Body.Single) body(json)).message();
  }

  public static String notification(int number) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"n/%d\"}".formatted(number);
  }

  public static String response(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}".formatted(id);
  }

  public static String event(String data) {
    return "data: " + data + "\n\n";
  }

  public static String event(String id, String data) {
    return "id: " + id + "\n" + event(data);
  }

  /** Takes {@code count} messages, in as many calls as needed. */
  public static List<UpstreamMessage> take(MessageSource source, int count) {
    List<UpstreamMessage> taken = new ArrayList<>();
    while (taken.size() < count) {
      List<UpstreamMessage> next = source.take();
      assertThat(next).as("after %s", texts(taken)).isNotEmpty();
      taken.addAll(next);
    }
    return taken;
  }

  /** Takes all messages to the end of the source. */
  public static List<UpstreamMessage> takeAll(MessageSource source) {
    List<UpstreamMessage> taken = new ArrayList<>();
    for (var next = next(source); !next.isEmpty(); next = next(source)) {
      taken.addAll(next);
    }
    return taken;
  }

  /** Takes messages as a pump does, which has no thread while it waits. */
  private static List<UpstreamMessage> next(MessageSource source) {
    Semaphore arrived = new Semaphore(0);
    List<UpstreamMessage> taken = List.of();
    while (taken.isEmpty() && source.whenArrived(arrived::release)) {
      arrived.acquireUninterruptibly();
      taken = source.takeArrived();
    }
    return taken.isEmpty() ? source.take() : taken;
  }

  /** Waits until the upstream breaks off what is in progress. */
  static void assertBroken(CompletableFuture<?> inProgress) {
    assertThat(inProgress)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .withCauseInstanceOf(UpstreamException.Broken.class);
  }

  public static List<String> texts(List<UpstreamMessage> messages) {
    return messages.stream()
        .map(message -> new String(message.payload(), StandardCharsets.UTF_8))
        .toList();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }
}

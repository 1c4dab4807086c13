package dev.holdfast.upstream.http;

import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP+SSE server that answers {@code initialize} by itself and sends other messages on demand.
 */
public final class LegacyServer implements AutoCloseable {

  public static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2024-11-05\"}}";

  private final ScriptedServer server;
  private final AtomicInteger streams = new AtomicInteger();

  /** Answer to a GET; by default a stream with an endpoint. */
  public volatile ScriptedServer.Script whenAsked = (_, wire) -> begin(wire, "/messages?session=1");

  /** Answer to a POST. */
  public volatile ScriptedServer.Script whenPosted = (_, wire) -> wire.answer(202, "", "Accepted");

  private volatile @Nullable RawConnection stream;

  public LegacyServer() {
    server = ScriptedServer.playing(this::play);
  }

  private void play(ScriptedRequest request, RawConnection wire) throws Exception {
    if (request.method().equals("GET")) {
      whenAsked.play(request, wire);
      return;
    }
    whenPosted.play(request, wire);
    if (request.target().startsWith("/messages") && request.body().contains("\"initialize\"")) {
      say(INITIALIZED);
    }
  }

  /** Begins the stream and keeps it open. */
  void begin(RawConnection wire, String endpoint) throws IOException {
    wire.beginEvents().chunk("event: endpoint\ndata: " + endpoint + "\n\n");
    stream = wire;
    streams.incrementAndGet();
    wire.stall();
  }

  /** Sends an event on the latest stream. */
  public void say(String json) throws IOException {
    stream().chunk(UpstreamFixture.event(json));
  }

  /** Sends an event with an id on the latest stream. */
  void say(String id, String json) throws IOException {
    stream().chunk(UpstreamFixture.event(id, json));
  }

  RawConnection stream() {
    return Objects.requireNonNull(stream);
  }

  /** Waits until {@code count} streams have begun. */
  void awaitStreams(int count) {
    await().until(() -> streams.get() >= count);
  }

  public URI url() {
    return server.url();
  }

  List<ScriptedRequest> requests() {
    return server.requests();
  }

  /** The POST requests. */
  public List<ScriptedRequest> posts() {
    return requests().stream().filter(request -> request.method().equals("POST")).toList();
  }

  /** The GET requests. */
  public List<ScriptedRequest> gets() {
    return requests().stream().filter(request -> request.method().equals("GET")).toList();
  }

  /** Waits for a POST whose body contains the method. */
  void awaitPost(String method) {
    await().until(() -> posts().stream().anyMatch(post -> post.body().contains(method)));
  }

  int connections() {
    return server.connections();
  }

  @Override
  public void close() {
    server.close();
  }
}

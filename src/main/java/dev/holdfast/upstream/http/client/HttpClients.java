package dev.holdfast.upstream.http.client;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** The connections to one server, spread over a few event loops. */
public final class HttpClients implements AutoCloseable {

  /** A loop only copies bytes; one can feed the parsing threads of several cores. */
  public static final int LANES = Math.min(4, Runtime.getRuntime().availableProcessors());

  /**
   * Below the 5 s after which common servers (Node, Uvicorn) drop an idle connection. A request
   * that meets such a close is lost: it cannot be known whether the server saw it.
   */
  private static final int KEEP_ALIVE_SECONDS = 3;

  /** As large as the socket is read at once, so that a burst comes in few pieces. */
  private static final int MAX_CHUNK_BYTES = 64 * 1024;

  private static final long CLOSE_SECONDS = 5;

  private final List<EventLoopClient> lanes;
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean closed;

  public HttpClients(Vertx vertx, HttpUpstreamSettings settings) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout((int) Math.min(settings.connectTimeout().toMillis(), 1 << 30))
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setMaxChunkSize(MAX_CHUNK_BYTES)
            .setTcpKeepAlive(true)
            .setTcpNoDelay(true);
    ByteBudget inflow = ByteBudget.ofHeap(16, 8 << 20);
    Semaphore calls = new Semaphore(settings.maxConnections());
    Semaphore listeners = new Semaphore(settings.maxConnections());
    lanes =
        Stream.generate(() -> new EventLoopClient(vertx, options, inflow, calls, listeners))
            .limit(LANES)
            .toList();
  }

  /** The lane whose turn it is. */
  EventLoopClient lane() {
    return lanes.get(Math.floorMod(turn.getAndIncrement(), lanes.size()));
  }

  /** Fails when there will be no connections any more. */
  public void requireOpen() {
    if (closed) {
      throw new UpstreamException.Broken("this side of it was closed", null);
    }
  }

  /** Breaks all connections. */
  @Override
  public void close() {
    closed = true;
    var closing =
        Future.join(lanes.stream().map(EventLoopClient::close).toList()).toCompletionStage();
    try {
      closing.toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Nothing is lost but the connections, and those die with the process.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

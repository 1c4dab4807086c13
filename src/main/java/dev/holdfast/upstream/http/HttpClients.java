package dev.holdfast.upstream.http;

import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The connections to one server. Two pools, because an idle pool is searched from end to end for
 * each request: thousands of quiet listeners must not slow the calls down.
 */
final class HttpClients implements AutoCloseable {

  /** In effect none: a stream holds its connection, and how many there are is decided elsewhere. */
  private static final int MAX_CONNECTIONS = 65_536;

  /**
   * Below the 5 s after which common servers (Node, Uvicorn) drop an idle connection. A request
   * that meets such a close is lost: it cannot be known whether the server saw it.
   */
  private static final int KEEP_ALIVE_SECONDS = 3;

  /** As large as the socket is read at once, so that a burst comes in few pieces. */
  private static final int MAX_CHUNK_BYTES = 64 * 1024;

  private static final long CLOSE_SECONDS = 5;

  private final HttpClient calls;
  private final HttpClient listeners;
  private volatile boolean closed;

  HttpClients(Vertx vertx, HttpUpstreamSettings settings) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout((int) Math.min(settings.connectTimeout().toMillis(), 1 << 30))
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setMaxChunkSize(MAX_CHUNK_BYTES)
            .setTcpKeepAlive(true)
            .setTcpNoDelay(true);
    PoolOptions pool = new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS);
    calls = client(vertx, options, pool);
    listeners = client(vertx, options, pool);
  }

  private static HttpClient client(Vertx vertx, HttpClientOptions options, PoolOptions pool) {
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(pool)
        // Each exchange hears of it by itself; without a handler it would be logged as an error.
        .withConnectHandler(connection -> connection.exceptionHandler(_ -> {}))
        .build();
  }

  /** For requests that are answered, sooner or later. */
  HttpClient calls() {
    return calls;
  }

  /** For streams that stay. */
  HttpClient listeners() {
    return listeners;
  }

  /** Fails when there will be no connections any more. */
  void requireOpen() {
    if (closed) {
      throw new UpstreamException.Broken("this side of it was closed", null);
    }
  }

  /** Breaks all connections. */
  @Override
  public void close() {
    closed = true;
    var closing = Future.join(calls.close(), listeners.close()).toCompletionStage();
    try {
      closing.toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Nothing is lost but the connections, and those die with the process.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

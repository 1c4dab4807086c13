package dev.holdfast.upstream.http;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.CompletableFuture;

/**
 * One event loop and connections that never leave it. Two pools, because a pool is searched from
 * end to end for each request: thousands of quiet listeners must not slow the calls down.
 */
final class Lane {

  /** In effect none: a stream holds its connection, and how many there are is decided elsewhere. */
  private static final int MAX_CONNECTIONS = 65_536;

  private final Context context;
  private final HttpClient calls;
  private final HttpClient listeners;
  private final Inflow inflow;

  /**
   * Connects nowhere yet.
   *
   * @param inflow shared by all lanes to one server
   */
  Lane(Vertx vertx, HttpClientOptions options, Inflow inflow) {
    this.inflow = inflow;
    context = newContext(vertx);
    calls = client(vertx, options);
    listeners = client(vertx, options);
  }

  /** A thread without a context is given a new one, on the event loop whose turn it is. */
  private static Context newContext(Vertx vertx) {
    CompletableFuture<Context> created = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> created.complete(vertx.getOrCreateContext()));
    return created.join();
  }

  private static HttpClient client(Vertx vertx, HttpClientOptions options) {
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS))
        // Each exchange hears of it by itself; without a handler it would be logged as an error.
        .withConnectHandler(connection -> connection.exceptionHandler(_ -> {}))
        .build();
  }

  /** Runs a task on the event loop, later, and after all tasks that were given before. */
  void run(Runnable task) {
    context.runOnContext(_ -> task.run());
  }

  /** For requests that are answered, sooner or later. To be used on the event loop. */
  HttpClient calls() {
    return calls;
  }

  /** For streams that stay. To be used on the event loop. */
  HttpClient listeners() {
    return listeners;
  }

  /** How much lies unread of what the server sends. */
  Inflow inflow() {
    return inflow;
  }

  /** Breaks all connections. */
  Future<?> close() {
    return Future.join(calls.close(), listeners.close());
  }
}

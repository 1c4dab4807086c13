package dev.holdfast.upstream.http.client;

import dev.holdfast.budget.ByteBudget;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * One event loop and connections that never leave it. Two pools, because a pool is searched from
 * end to end for each request: thousands of quiet listeners must not slow the calls down.
 */
final class EventLoopClient {

  /** In effect none: how many there are is decided for all lanes together. */
  private static final int MAX_CONNECTIONS = 65_536;

  private final Context context;
  private final Pool calls;
  private final Pool listeners;
  private final ByteBudget inflow;

  /**
   * Connects nowhere yet.
   *
   * @param inflow shared by all lanes to one server
   * @param calls how many more requests may be under way, over all lanes
   * @param listeners how many more streams may stay, over all lanes
   */
  EventLoopClient(
      Vertx vertx,
      HttpClientOptions options,
      ByteBudget inflow,
      Semaphore calls,
      Semaphore listeners) {
    this.inflow = inflow;
    context = newContext(vertx);
    this.calls = new Pool(client(vertx, options), calls);
    this.listeners = new Pool(client(vertx, options), listeners);
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

  /** For requests that are answered, sooner or later. */
  Pool calls() {
    return calls;
  }

  /** For streams that stay. */
  Pool listeners() {
    return listeners;
  }

  /** How much lies here of what the server sends, until whoever reads it wants more. */
  ByteBudget inflow() {
    return inflow;
  }

  /**
   * Connections for one purpose.
   *
   * @param client makes and keeps them; to be used on the event loop
   * @param free how many more may be in use, on this lane or another
   */
  record Pool(HttpClient client, Semaphore free) {}

  /** Breaks all connections. */
  Future<?> close() {
    return Future.join(calls.client().close(), listeners.client().close());
  }
}

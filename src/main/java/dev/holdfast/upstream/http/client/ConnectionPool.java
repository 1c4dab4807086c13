package dev.holdfast.upstream.http.client;

import dev.holdfast.budget.ByteBudget;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.Semaphore;

/**
 * Connections to one server that stay on one event loop.
 *
 * @param eventLoop runs all code that touches the connections
 * @param client makes and keeps the connections; used on the event loop only
 * @param free permits for connections in use, shared with pools on other event loops
 * @param unread budget of received bytes that wait for a reader, also shared
 */
record ConnectionPool(Context eventLoop, HttpClient client, Semaphore free, ByteBudget unread) {

  /** Never reached: the permits limit the connections of all event loops together. */
  private static final int MAX_CONNECTIONS = 65_536;

  static ConnectionPool create(
      Vertx vertx, HttpClientOptions options, Context loop, Semaphore free, ByteBudget unread) {
    HttpClient client =
        vertx
            .httpClientBuilder()
            .with(options)
            .with(new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS))
            // Each exchange handles its failures; without a handler Vert.x logs them as errors.
            .withConnectHandler(connection -> connection.exceptionHandler(_ -> {}))
            .build();
    return new ConnectionPool(loop, client, free, unread);
  }

  /** Runs a task on the event loop, after all earlier tasks. */
  void run(Runnable task) {
    eventLoop.runOnContext(_ -> task.run());
  }
}

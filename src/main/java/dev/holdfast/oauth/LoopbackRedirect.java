package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.URI;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes the answer of an authorization server from a browser on this machine (RFC 8252, section
 * 7.3): one answer, with the right {@code state}.
 */
final class LoopbackRedirect implements AutoCloseable {

  static final int MAX_HEAD = 16 * 1024;

  /** Browsers open connections before they need them. */
  static final int MAX_CONNECTIONS = 16;

  private static final int IDLE_SECONDS = 10;

  private final HttpServer server;
  private final String state;
  private final CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
  private final AtomicInteger connections = new AtomicInteger();

  /**
   * Listens on a free port of 127.0.0.1.
   *
   * @param state the secret that the answer must have
   * @throws IOException if no port is free
   */
  LoopbackRedirect(Vertx vertx, String state) throws IOException {
    this.state = state;
    server =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setMaxInitialLineLength(MAX_HEAD)
                    .setMaxHeaderSize(MAX_HEAD)
                    .setHttp2ClearTextEnabled(false)
                    .setIdleTimeout(IDLE_SECONDS))
            .connectionHandler(this::limit)
            .requestHandler(this::serve);
    try {
      server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    } catch (CompletionException failure) {
      throw new IOException(failure.getCause());
    }
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.actualPort() + "/callback");
  }

  /**
   * Waits for the answer.
   *
   * @throws TimeoutException if none comes in time
   */
  Map<String, String> await(Duration timeout) throws InterruptedException, TimeoutException {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void limit(HttpConnection browser) {
    browser.closeHandler(_ -> connections.decrementAndGet());
    if (connections.incrementAndGet() > MAX_CONNECTIONS) {
      browser.close();
    }
  }

  /** Repeats nothing of the request. */
  private void serve(HttpServerRequest request) {
    boolean taken =
        request.method().equals(HttpMethod.GET)
            && "/callback".equals(request.path())
            && take(parameters(request));
    request
        .response()
        .setStatusCode(taken ? 200 : 400)
        .putHeader("Content-Type", "text/plain")
        .putHeader("Content-Security-Policy", "default-src 'none'")
        .putHeader("Cache-Control", "no-store")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Connection", "close")
        .end(
            taken
                ? "The answer has reached Holdfast. You can close this page."
                : "Holdfast does not expect this request.")
        .onComplete(_ -> request.connection().close());
  }

  private boolean take(Map<String, String> parameters) {
    byte[] found = parameters.getOrDefault("state", "").getBytes(UTF_8);
    return MessageDigest.isEqual(found, state.getBytes(UTF_8)) && answer.complete(parameters);
  }

  /** Empty if a parameter is malformed or there twice. */
  private static Map<String, String> parameters(HttpServerRequest request) {
    Map<String, String> parameters = new HashMap<>();
    try {
      List<Map.Entry<String, String>> all = request.params(true).entries();
      all.forEach(each -> parameters.put(each.getKey(), each.getValue()));
      return parameters.size() == all.size() ? parameters : Map.of();
    } catch (IllegalArgumentException malformed) {
      return Map.of();
    }
  }

  @Override
  public void close() {
    server.close();
  }
}

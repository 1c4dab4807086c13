package dev.holdfast.bench;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;

/**
 * A reverse proxy on Vert.x that passes streams on at once and stores nothing: what any proxy on
 * the JVM costs. It runs as a process of its own, with one event loop per processor.
 */
final class VertxProxy extends AbstractVerticle {

  private static final int MOST_CONNECTIONS = 10_000;

  private final URI server;
  private final int port;

  private VertxProxy(URI server, int port) {
    this.server = server;
    this.port = port;
  }

  /**
   * Serves on the loopback interface, until it is killed.
   *
   * @param args URL of the server, and the port to listen on
   */
  public static void main(String[] args) {
    URI server = URI.create(args[0]);
    int port = Integer.parseInt(args[1]);
    DeploymentOptions options =
        new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors());
    Vertx.vertx()
        .deployVerticle(() -> new VertxProxy(server, port), options)
        .onSuccess(_ -> System.out.println("listening on " + port));
  }

  @Override
  public void start(Promise<Void> started) {
    HttpClient client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setDefaultHost(server.getHost())
                .setDefaultPort(server.getPort())
                .setMaxPoolSize(MOST_CONNECTIONS));
    vertx
        .createHttpServer()
        .requestHandler(request -> pass(request, client))
        .listen(port, "127.0.0.1")
        .<Void>mapEmpty()
        .onComplete(started);
  }

  private static void pass(HttpServerRequest request, HttpClient client) {
    request.pause();
    client
        .request(request.method(), request.uri())
        .compose(asked -> ask(request, asked))
        .compose(answer -> answer(answer, request.response()))
        .onFailure(_ -> request.connection().close());
  }

  private static Future<HttpClientResponse> ask(
      HttpServerRequest request, HttpClientRequest asked) {
    copy(request.headers(), asked.headers());
    asked.setChunked(request.headers().contains(HttpHeaders.TRANSFER_ENCODING));
    request.response().closeHandler(_ -> asked.reset());
    return asked.send(request);
  }

  private static Future<Void> answer(HttpClientResponse answer, HttpServerResponse response) {
    response.setStatusCode(answer.statusCode());
    copy(answer.headers(), response.headers());
    response.setChunked(!answer.headers().contains(HttpHeaders.CONTENT_LENGTH));
    return answer.pipeTo(response);
  }

  private static void copy(MultiMap from, MultiMap to) {
    to.addAll(from);
    to.remove(HttpHeaders.TRANSFER_ENCODING).remove(HttpHeaders.CONNECTION);
  }
}

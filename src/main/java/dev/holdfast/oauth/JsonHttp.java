package dev.holdfast.oauth;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Requests to authorization servers, which answer with one JSON object. Follows no redirects. */
final class JsonHttp implements AutoCloseable {

  /** Upper bound of a response. */
  static final int MAX_BYTES = 64 * 1024;

  static final String FORM = "application/x-www-form-urlencoded";
  static final String JSON_TYPE = "application/json";

  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient client;
  private final Context eventLoop;
  private final Duration timeout;

  /**
   * Connects on demand.
   *
   * @param timeout time limit of a request
   */
  JsonHttp(Vertx vertx, Duration timeout) {
    this(vertx, timeout, _ -> {});
  }

  /** The same with TLS of its own. */
  JsonHttp(Vertx vertx, Duration timeout, Consumer<HttpClientOptions> tls) {
    this.timeout = timeout;
    int millis = Math.toIntExact(Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    HttpClientOptions options = new HttpClientOptions();
    tls.accept(options);
    client = vertx.createHttpClient(options.setConnectTimeout(millis).setUseAlpn(false));
    eventLoop = newContext(vertx);
  }

  /** A thread without a context gets a new one from Vert.x. */
  private static Context newContext(Vertx vertx) {
    CompletableFuture<Context> created = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> created.complete(vertx.getOrCreateContext()));
    return created.join();
  }

  /**
   * A response.
   *
   * @param fields the texts, numbers and truth values of the object, and of its arrays, by name;
   *     empty if the body is no object
   */
  record Answer(int status, Map<String, List<String>> fields) {

    /** Returns a field with one value; null if there is none. */
    @Nullable String field(String name) {
      List<String> values = fields.getOrDefault(name, List.of());
      return values.size() == 1 ? values.getFirst() : null;
    }

    /** Leaves out the fields, which may be tokens. */
    @Override
    public String toString() {
      return "Answer[status=" + status + "]";
    }
  }

  /**
   * Reads an object.
   *
   * @throws TokenException if no answer comes
   */
  Answer get(URI url) {
    return send(options(HttpMethod.GET, url), null);
  }

  /**
   * Posts a body.
   *
   * @param authorization value of the header; null for none
   * @throws TokenException if no answer comes
   */
  Answer post(URI url, String type, String body, @Nullable String authorization) {
    RequestOptions options = options(HttpMethod.POST, url).putHeader("Content-Type", type);
    if (authorization != null) {
      options.putHeader("Authorization", authorization);
    }
    return send(options, Buffer.buffer(body));
  }

  /** Encodes the fields of a form or of a query. */
  static String form(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
        .collect(Collectors.joining("&"));
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static boolean isHttps(URI url) {
    return "https".equalsIgnoreCase(url.getScheme());
  }

  /** Returns the port of a URL, or the default one of its scheme. */
  static int port(URI url) {
    return url.getPort() >= 0 ? url.getPort() : isHttps(url) ? 443 : 80;
  }

  private RequestOptions options(HttpMethod method, URI url) {
    int port = port(url);
    String host = url.getHost();
    String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setSsl(isHttps(url))
            .setHost(host)
            .setPort(port)
            .setURI((url.getRawPath().isEmpty() ? "/" : url.getRawPath()) + query)
            .setTimeout(timeout.toMillis())
            .putHeader("Accept", JSON_TYPE);
    if (host.startsWith("[")) {
      // The Host header needs the brackets of an IPv6 address; the connection must not have them.
      String address = host.substring(1, host.length() - 1);
      options.setServer(SocketAddress.inetSocketAddress(port, address));
    }
    return options;
  }

  private Answer send(RequestOptions options, @Nullable Buffer body) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    // On the event loop of the connection: elsewhere, the body may have passed by the handlers.
    eventLoop.runOnContext(_ ->
        client
            .request(options)
            .compose(request -> body == null ? request.send() : request.send(body))
            .compose(JsonHttp::read)
            .onSuccess(answer::complete)
            .onFailure(answer::completeExceptionally));
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException failure) {
      Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
      throw new TokenException("no answer: " + cause.getMessage(), cause);
    } catch (TimeoutException late) {
      throw new TokenException("no answer in time", late);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new TokenException("interrupted", interrupted);
    }
  }

  private static Future<Answer> read(HttpClientResponse head) {
    Promise<Answer> whole = Promise.promise();
    Buffer body = Buffer.buffer();
    head.exceptionHandler(whole::tryFail);
    head.handler(chunk -> {
      if (body.length() + chunk.length() > MAX_BYTES) {
        whole.tryFail("more than " + MAX_BYTES + " bytes");
        head.request().reset();
      } else {
        body.appendBuffer(chunk);
      }
    });
    head.endHandler(_ -> whole.tryComplete(new Answer(head.statusCode(), fields(body.getBytes()))));
    return whole.future();
  }

  /** Reads the scalars of an object, and of its arrays; empty if the text is none. */
  static Map<String, List<String>> fields(byte[] text) {
    Map<String, List<String>> fields = new HashMap<>();
    try (JsonParser json = JSON.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return Map.of();
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        fields.put(name, json.nextToken() == JsonToken.START_ARRAY ? elements(json) : one(json));
      }
      return fields;
    } catch (IOException malformed) {
      return Map.of();
    }
  }

  private static List<String> elements(JsonParser json) throws IOException {
    List<String> elements = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      elements.addAll(one(json));
    }
    return elements;
  }

  private static List<String> one(JsonParser json) throws IOException {
    if (json.currentToken().isScalarValue() && json.currentToken() != JsonToken.VALUE_NULL) {
      return List.of(json.getText());
    }
    json.skipChildren();
    return List.of();
  }

  /** Uses renewed certificates for new connections. */
  void renew(SSLOptions renewed) {
    client.updateSSLOptions(new SSLOptions(renewed).setUseAlpn(false));
  }

  @Override
  public void close() {
    client.close();
  }
}

package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.text.Urls;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jose4j.json.JsonUtil;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Requests to authorization servers, which answer with one JSON object. Each has a limit of time
 * and of size. Thread-safe.
 */
public final class JsonHttp implements AutoCloseable {

  /** Upper bound of a response, unless a request names another one. */
  public static final int MAX_BYTES = 64 * 1024;

  /** Connections to one server. Leaves some for keys while it is asked about many tokens. */
  public static final int MAX_CONNECTIONS = 64;

  static final String JSON_TYPE = "application/json";
  private static final String REDIRECT = "the redirect";
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]", Pattern.CASE_INSENSITIVE);
  private static final String FORM = "application/x-www-form-urlencoded";

  /** Node.js closes idle connections after 5 s. A request on its way to one would fail. */
  private static final int KEEP_ALIVE_SECONDS = 4;

  private final HttpClient client;
  private final Context eventLoop;
  private final Duration timeout;

  /** Connects on demand. */
  public JsonHttp(Vertx vertx, Duration timeout, Consumer<HttpClientOptions> tls) {
    this.timeout = timeout;
    int millis = Math.toIntExact(Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    HttpClientOptions options = new HttpClientOptions();
    tls.accept(options);
    client =
        vertx.createHttpClient(
            options
                .setConnectTimeout(millis)
                .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
                .setUseAlpn(false),
            new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
    // Internal, since a public context is that of the calling thread.
    eventLoop = ((VertxInternal) vertx).createEventLoopContext();
  }

  /**
   * A response.
   *
   * @param location the value of the header; null for none
   * @param fields the object; empty if the body is none
   */
  public record Answer(
      int status, @Nullable String location, String body, Map<String, Object> fields) {

    /** Returns a text, number or truth value; null if there is none. */
    public @Nullable String field(String name) {
      return isScalar(fields.get(name)) ? String.valueOf(fields.get(name)) : null;
    }

    /** Returns the texts, numbers and truth values of an array; empty if there is none. */
    List<String> list(String name) {
      return fields.get(name) instanceof List<?> elements
          ? elements.stream().filter(Answer::isScalar).map(String::valueOf).toList()
          : List.of();
    }

    private static boolean isScalar(@Nullable Object value) {
      return value instanceof String || value instanceof Number || value instanceof Boolean;
    }

    TokenException unreadable(URI url) {
      String text = url + " cannot be read: status " + status;
      return status >= 500 ? new TokenException(text, null) : new TokenException(text);
    }

    /** Leaves out the body, which may have tokens. */
    @Override
    public String toString() {
      return "Answer[status=" + status + "]";
    }
  }

  static Map<String, Object> parse(String text) {
    try {
      return JsonUtil.parseJson(text);
    } catch (JoseException malformed) {
      return Map.of();
    }
  }

  /**
   * Gets an object. Follows no redirects.
   *
   * @throws TokenException if no answer comes
   */
  Answer get(URI url) {
    return get(url, MAX_BYTES, 0);
  }

  /**
   * Gets a document.
   *
   * @throws TokenException if no answer comes, or one leads to a URL that is refused
   */
  public Answer get(URI url, int maxBytes, int redirects) {
    Answer answer = send(options(HttpMethod.GET, url), null, maxBytes);
    if (answer.location() == null || redirects == 0 || answer.status() / 100 != 3) {
      return answer;
    }
    URI next = url.resolve(parsed(REDIRECT, answer.location()));
    return get(checked(REDIRECT, next, url), maxBytes, redirects - 1);
  }

  /**
   * Posts a form. Follows no redirects.
   *
   * @param authorization value of the header; null for none
   * @throws TokenException if no answer comes
   */
  public Answer post(URI url, Map<String, String> form, @Nullable String authorization) {
    return post(url, FORM, form(form), authorization);
  }

  /** Posts a body, as {@link #post(URI, Map, String)} does. */
  Answer post(URI url, String type, String body, @Nullable String authorization) {
    RequestOptions options = options(HttpMethod.POST, url).putHeader("Content-Type", type);
    if (authorization != null) {
      options.putHeader("Authorization", authorization);
    }
    return send(options, Buffer.buffer(body), MAX_BYTES);
  }

  static String form(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
        .collect(Collectors.joining("&"));
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  /**
   * Reads a URL that a server names. Secrets may go there, so it must begin with {@code https}. A
   * server of this machine that has no TLS may name others of this machine that have none.
   *
   * @param what the URL, for people
   * @param by a URL of the server
   * @throws TokenException if the text is no such URL
   */
  public static URI url(String what, String text, URI by) {
    return checked(what, parsed(what, text), by);
  }

  private static URI parsed(String what, String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException malformed) {
      throw new TokenException(what + " is not a URL");
    }
  }

  private static URI checked(String what, URI url, URI by) {
    if (url.getHost() == null
        || url.getRawUserInfo() != null
        || url.getRawFragment() != null
        || !(Urls.isHttps(url) || isLocal(url, by))) {
      throw new TokenException(what + " must begin with https:// and have no user, not be " + url);
    }
    return url;
  }

  /**
   * Returns true if both are on this machine and without TLS. A name that a server chooses is not
   * looked up: it may mean another machine a moment later.
   */
  private static boolean isLocal(URI url, URI by) {
    String host = url.getHost();
    return Stream.of(url, by).allMatch(each -> "http".equalsIgnoreCase(each.getScheme()))
        && (host.equalsIgnoreCase(by.getHost()) || LOOPBACK.matcher(host).matches())
        && Urls.isLoopback(by.getHost());
  }

  private RequestOptions options(HttpMethod method, URI url) {
    if (url.getHost() == null || !url.getScheme().toLowerCase(Locale.ROOT).startsWith("http")) {
      throw new TokenException("no URL of HTTP");
    }
    return new RequestOptions()
        .setMethod(method)
        .setAbsoluteURI(url.toString())
        .setServer(SocketAddress.inetSocketAddress(Urls.port(url), Urls.host(url)))
        .setTimeout(timeout.toMillis())
        .putHeader("Accept", JSON_TYPE);
  }

  private Answer send(RequestOptions options, @Nullable Buffer body, int maxBytes) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    // On the event loop of the connection: elsewhere, the body may have passed by the handlers.
    eventLoop.runOnContext(_ ->
        client
            .request(options)
            .compose(request -> {
              // A server that stalls in the middle of its answer must not keep the connection.
              var _ = answer.whenComplete((_, failure) -> resetAfter(failure, request));
              return body == null ? request.send() : request.send(body);
            })
            .compose(head -> read(head, maxBytes))
            .onSuccess(answer::complete)
            .onFailure(answer::completeExceptionally));
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException failure) {
      Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
      String reason = cause instanceof TimeoutException ? "timed out" : cause.getMessage();
      throw new TokenException("no answer: " + reason, cause);
    } catch (TimeoutException late) {
      answer.completeExceptionally(late);
      throw new TokenException("no answer: timed out", late);
    } catch (InterruptedException interrupted) {
      answer.completeExceptionally(interrupted);
      Thread.currentThread().interrupt();
      throw new TokenException("interrupted", interrupted);
    }
  }

  private static void resetAfter(@Nullable Throwable failure, HttpClientRequest request) {
    if (failure != null) {
      var _ = request.reset();
    }
  }

  private static Future<Answer> read(HttpClientResponse head, int maxBytes) {
    Promise<Answer> whole = Promise.promise();
    Buffer body = Buffer.buffer();
    head.exceptionHandler(whole::tryFail);
    head.handler(chunk -> {
      if (body.length() + chunk.length() > maxBytes) {
        whole.tryFail("more than " + maxBytes + " bytes");
      } else {
        body.appendBuffer(chunk);
      }
    });
    head.endHandler(_ -> {
      String text = body.toString(UTF_8);
      whole.tryComplete(
          new Answer(head.statusCode(), head.getHeader("Location"), text, parse(text)));
    });
    return whole.future();
  }

  /** Uses renewed certificates for new connections. */
  public void renew(SSLOptions renewed) {
    client.updateSSLOptions(new SSLOptions(renewed).setUseAlpn(false));
  }

  @Override
  public void close() {
    client.close();
  }
}

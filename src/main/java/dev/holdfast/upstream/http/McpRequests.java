package dev.holdfast.upstream.http;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.text.Urls;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP requests of one MCP session, with their headers. Of a client's own headers, only those
 * that are configured are passed on, and {@code Authorization} only with credentials that say so
 * (MCP 2025-11-25, Authorization, Access Token Privilege Restriction).
 *
 * @param headers the headers of the client, sent with every request
 * @param caller whose requests these are
 */
record McpRequests(
    HttpClients clients,
    HttpUpstreamSettings settings,
    URI url,
    @Nullable String session,
    @Nullable String protocolVersion,
    ForwardedHeaders headers,
    ClientSession caller) {

  private static final Duration DELETE_TIMEOUT = Duration.ofSeconds(2);
  private static final int UNAUTHORIZED = 401;

  /** The first, one with a renewed token, and one with a new one. */
  private static final int MAX_ATTEMPTS = 3;

  private static final String AUTHORIZATION = "authorization";

  /** Requests to the configured URL. Before {@code initialize}, the version is empty. */
  static McpRequests of(HttpClients clients, HttpUpstreamSettings settings, UpstreamLink link) {
    boolean known = settings.credentials().needClientToken();
    return new McpRequests(
        clients,
        settings,
        settings.url(),
        link.session(),
        link.protocolVersion().isEmpty() ? null : link.protocolVersion(),
        link.headers(),
        known ? ClientSession.of(link) : ClientSession.UNKNOWN);
  }

  McpRequests to(URI other) {
    return new McpRequests(clients, settings, other, session, protocolVersion, headers, caller);
  }

  McpRequests in(@Nullable String opened) {
    return new McpRequests(clients, settings, url, opened, protocolVersion, headers, caller);
  }

  /** Keeps the server's session id out of logs. */
  @Override
  public String toString() {
    return "McpRequests[settings=" + settings + "]";
  }

  boolean hasSession() {
    return session != null;
  }

  /** The same requests for other threads: their headers tell of the trace of this one. */
  McpRequests inThisTrace() {
    Supplier<Map<String, String>> traceHeaders = settings.headers().traces();
    Map<String, String> all = new HashMap<>(headers.values());
    all.putAll(traceHeaders == null ? Map.of() : traceHeaders.get());
    ForwardedHeaders traced = new ForwardedHeaders(all);
    return new McpRequests(clients, settings, url, session, protocolVersion, traced, caller);
  }

  /** Posts messages that the server takes at once. */
  HttpAnswer post(byte[] messages) {
    return post(messages, () -> Deadline.after(settings.channel().startTimeout()));
  }

  /**
   * Posts messages and waits until the answer begins.
   *
   * @param answered returns the time limit of an attempt. A person may sign in before it
   */
  HttpAnswer post(byte[] messages, Supplier<Deadline> answered) {
    return post(messages, Map.of(), () -> new HttpExchange(clients.nextForCall()), answered);
  }

  /** Posts messages with more headers, which replace others of their names. */
  HttpAnswer post(
      byte[] messages,
      Map<String, String> more,
      Supplier<HttpExchange> exchanges,
      Supplier<Deadline> answered) {
    return authorized(
        true,
        authorization -> {
          RequestOptions options =
              options(HttpMethod.POST, authorization)
                  .putHeader("Content-Type", HttpAnswer.JSON)
                  .putHeader("Accept", HttpAnswer.JSON + ", " + HttpAnswer.EVENT_STREAM);
          more.forEach(options::putHeader);
          return send(exchanges.get(), options, messages, answered.get());
        });
  }

  /** An exchange for {@link #get}. Other threads can close it while it is sent. */
  HttpExchange newStreamExchange() {
    return new HttpExchange(clients.nextForStream());
  }

  /**
   * Requests a stream after an event id, empty for a new stream, and waits until the answer begins.
   *
   * @param exchanges creates the exchange of an attempt
   * @param asked whether a client waits for the stream
   * @param answered returns the time limit of an attempt
   */
  HttpAnswer get(
      Supplier<HttpExchange> exchanges, String cursor, boolean asked, Supplier<Deadline> answered) {
    if (!HeaderValues.isSendable(cursor)) {
      throw new UpstreamException.Broken("an event id that no header can hold", null);
    }
    return authorized(
        asked,
        authorization -> {
          RequestOptions options =
              options(HttpMethod.GET, authorization).putHeader("Accept", HttpAnswer.EVENT_STREAM);
          if (!cursor.isEmpty()) {
            options.putHeader(McpHeaders.LAST_EVENT_ID, HeaderValues.asUtf8(cursor));
          }
          Deadline earliest =
              Deadline.after(settings.channel().startTimeout()).earlier(answered.get());
          return send(exchanges.get(), options, null, earliest);
        });
  }

  HttpAnswer delete() {
    return authorized(
        false,
        authorization ->
            send(
                new HttpExchange(clients.nextForCall()),
                options(HttpMethod.DELETE, authorization),
                null,
                Deadline.after(DELETE_TIMEOUT)));
  }

  /**
   * Sends a request. Sends it again if the server asks for other credentials: it has not acted on
   * the request then.
   */
  private HttpAnswer authorized(boolean asked, Function<@Nullable String, HttpAnswer> request) {
    Credentials credentials = settings.credentials();
    for (int attempt = 1; ; attempt++) {
      String authorization = credentials.authorization(caller, asked);
      HttpAnswer answer = request.apply(authorization);
      if (answer.status() != UNAUTHORIZED) {
        return answer;
      }
      boolean mayRetry = credentials.refused(caller, authorization, answer.challenges());
      if (mayRetry && attempt < MAX_ATTEMPTS) {
        answer.discard();
      } else if (asked || authorization == null) {
        return answer;
      } else {
        answer.exchange().close();
        throw new UpstreamException.NoToken();
      }
    }
  }

  private HttpAnswer send(
      HttpExchange exchange, RequestOptions options, byte @Nullable [] body, Deadline answered) {
    Credentials credentials = settings.credentials();
    Deadline connected = Deadline.after(settings.connectTimeout());
    HttpClientResponse head = exchange.send(options, body, connected, answered);
    return new HttpAnswer(
        exchange, head, clients.held(), hasSession(), clientHeaders(), credentials.areOfClient());
  }

  /** Headers that the client can change when the server refuses a request. */
  private List<String> clientHeaders() {
    List<String> forwarded = headers.ofSession().names();
    return settings.credentials().needClientToken()
        ? Stream.concat(Stream.of(AUTHORIZATION), forwarded.stream()).toList()
        : forwarded;
  }

  private RequestOptions options(HttpMethod method, @Nullable String authorization) {
    RequestOptions options =
        new RequestOptions()
            .setSsl(Urls.isHttps(url))
            .setHost(url.getHost())
            .setPort(Urls.port(url))
            .setURI(Urls.target(url))
            .setServer(SocketAddress.inetSocketAddress(Urls.port(url), Urls.host(url)))
            .setMethod(method);
    headers.values().forEach(options::putHeader);
    settings.headers().fixed().forEach(options::putHeader);
    if (authorization != null) {
      options.putHeader("Authorization", authorization);
    }
    if (session != null) {
      options.putHeader(McpHeaders.SESSION_ID, session);
    }
    if (protocolVersion != null) {
      // Required since 2025-06-18, ignored before.
      options.putHeader(McpHeaders.PROTOCOL_VERSION, protocolVersion);
    }
    Supplier<Map<String, String>> traceHeaders = settings.headers().traces();
    if (traceHeaders != null) {
      traceHeaders.get().forEach(options::putHeader);
    }
    return options;
  }
}

package dev.holdfast.upstream.http;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP requests of one MCP session, with their headers. Of a client's own headers, only those
 * that are configured are passed on, and never {@code Authorization} (MCP 2025-11-25,
 * Authorization, Access Token Privilege Restriction).
 *
 * @param headers the headers of the client, sent with every request
 */
record McpRequests(
    HttpClients clients,
    HttpUpstreamSettings settings,
    URI url,
    @Nullable String session,
    @Nullable String protocolVersion,
    ForwardedHeaders headers) {

  private static final Duration DELETE_TIMEOUT = Duration.ofSeconds(2);

  /** Requests to the configured URL. Before {@code initialize}, session and version are null. */
  McpRequests(
      HttpClients clients,
      HttpUpstreamSettings settings,
      @Nullable String session,
      @Nullable String protocolVersion,
      ForwardedHeaders headers) {
    this(clients, settings, settings.url(), session, protocolVersion, headers);
  }

  McpRequests to(URI other) {
    return new McpRequests(clients, settings, other, session, protocolVersion, headers);
  }

  /** Keeps the server's session id out of logs. */
  @Override
  public String toString() {
    return "McpRequests[settings=" + settings + "]";
  }

  boolean hasSession() {
    return session != null;
  }

  HttpAnswer post(byte[] messages) {
    return post(messages, Deadline.after(settings.firstByteTimeout()));
  }

  /** Posts messages and waits until the answer begins. */
  HttpAnswer post(byte[] messages, Deadline answered) {
    RequestOptions options =
        options(HttpMethod.POST)
            .putHeader("Content-Type", HttpAnswer.JSON)
            .putHeader("Accept", HttpAnswer.JSON + ", " + HttpAnswer.EVENT_STREAM);
    return send(new HttpExchange(clients.nextForCall()), options, messages, answered);
  }

  /** An exchange for {@link #get}. Other threads can close it while it is sent. */
  HttpExchange newStreamExchange() {
    return new HttpExchange(clients.nextForStream());
  }

  /**
   * Requests a stream after an event id, empty for a new stream, and waits until the answer begins.
   */
  HttpAnswer get(HttpExchange exchange, String cursor, Deadline answered) {
    RequestOptions options = options(HttpMethod.GET).putHeader("Accept", HttpAnswer.EVENT_STREAM);
    if (!HeaderValues.isSendable(cursor)) {
      throw new UpstreamException.Broken("an event id that no header can hold", null);
    }
    if (!cursor.isEmpty()) {
      options.putHeader(McpHeaders.LAST_EVENT_ID, HeaderValues.asUtf8(cursor));
    }
    Deadline earliest = Deadline.after(settings.firstByteTimeout()).earlier(answered);
    return send(exchange, options, null, earliest);
  }

  HttpAnswer delete() {
    HttpExchange exchange = new HttpExchange(clients.nextForCall());
    return send(exchange, options(HttpMethod.DELETE), null, Deadline.after(DELETE_TIMEOUT));
  }

  private HttpAnswer send(
      HttpExchange exchange, RequestOptions options, byte @Nullable [] body, Deadline answered) {
    String authorization = settings.credentials().authorization();
    if (authorization != null) {
      options.putHeader("Authorization", authorization);
    }
    Deadline connected = Deadline.after(settings.connectTimeout());
    HttpClientResponse head = exchange.send(options, body, connected, answered);
    if (authorization != null && head.statusCode() == 401) {
      settings.credentials().refused(authorization);
    }
    List<String> clientHeaders = headers.ofSession().names();
    return new HttpAnswer(exchange, head, clients.held(), hasSession(), clientHeaders);
  }

  private RequestOptions options(HttpMethod method) {
    RequestOptions options = address(url).setMethod(method);
    headers.values().forEach(options::putHeader);
    settings.headers().forEach(options::putHeader);
    if (session != null) {
      options.putHeader(McpHeaders.SESSION_ID, session);
    }
    if (protocolVersion != null) {
      // Required since 2025-06-18, ignored before.
      options.putHeader(McpHeaders.PROTOCOL_VERSION, protocolVersion);
    }
    Supplier<Map<String, String>> traceHeaders = settings.traceHeaders();
    if (traceHeaders != null) {
      traceHeaders.get().forEach(options::putHeader);
    }
    return options;
  }

  private static RequestOptions address(URI url) {
    String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
    String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
    String host = url.getHost();
    int port = port(url);
    RequestOptions options =
        new RequestOptions().setSsl(isHttps(url)).setHost(host).setPort(port).setURI(path + query);
    if (host.startsWith("[")) {
      // The Host header needs the brackets of an IPv6 address; the connection must not have them.
      String address = host.substring(1, host.length() - 1);
      options.setServer(SocketAddress.inetSocketAddress(port, address));
    }
    return options;
  }

  static int port(URI url) {
    if (url.getPort() >= 0) {
      return url.getPort();
    }
    return isHttps(url) ? 443 : 80;
  }

  private static boolean isHttps(URI url) {
    return "https".equalsIgnoreCase(url.getScheme());
  }
}

package dev.holdfast.upstream.http.client;

import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP requests of one MCP session, or of none yet, with exactly the headers that belong to
 * them. Nothing of a client's own headers gets here, least of all its {@code Authorization} (MCP
 * 2025-11-25, Authorization, Access Token Privilege Restriction).
 */
public final class McpRequests {

  static final String JSON = "application/json";
  static final String EVENT_STREAM = "text/event-stream";
  public static final String SESSION_ID = "Mcp-Session-Id";

  private static final Duration DELETE_TIMEOUT = Duration.ofSeconds(2);

  private final HttpClients clients;
  private final URI url;
  private final HttpUpstreamSettings settings;
  private final @Nullable String session;
  private final @Nullable String protocolVersion;

  /**
   * @param session the server's name of the session; null when it gave none
   * @param protocolVersion the version that is spoken; null before it is agreed on
   */
  public McpRequests(
      HttpClients clients,
      HttpUpstreamSettings settings,
      @Nullable String session,
      @Nullable String protocolVersion) {
    this(clients, settings, settings.url(), session, protocolVersion);
  }

  private McpRequests(
      HttpClients clients,
      HttpUpstreamSettings settings,
      URI url,
      @Nullable String session,
      @Nullable String protocolVersion) {
    this.clients = clients;
    this.settings = settings;
    this.url = url;
    this.session = session;
    this.protocolVersion = protocolVersion;
  }

  /** The same requests to another address of the server. */
  public McpRequests to(URI other) {
    return new McpRequests(clients, settings, other, session, protocolVersion);
  }

  public URI url() {
    return url;
  }

  public HttpUpstreamSettings settings() {
    return settings;
  }

  public boolean hasSession() {
    return session != null;
  }

  /** Prepares an exchange for one request. */
  public HttpExchange exchange() {
    return new HttpExchange(clients.lane());
  }

  public void requireOpen() {
    clients.requireOpen();
  }

  /** Sends messages. */
  public HttpExchange.Head post(HttpExchange exchange, byte[] messages) {
    return post(exchange, messages, Deadline.after(settings.firstByteTimeout()));
  }

  /**
   * Sends messages.
   *
   * @param answered until when the answer must have begun
   */
  public HttpExchange.Head post(HttpExchange exchange, byte[] messages, Deadline answered) {
    RequestOptions options =
        options(HttpMethod.POST)
            .putHeader("Content-Type", JSON)
            .putHeader("Accept", JSON + ", " + EVENT_STREAM);
    return send(exchange, EventLoopClient::calls, options, messages, answered);
  }

  /**
   * Asks for a stream.
   *
   * @param cursor the event after which it is to go on; empty for a new one
   * @param latest until when the answer must have begun, where that comes first
   */
  public HttpExchange.Head get(HttpExchange exchange, String cursor, Deadline latest) {
    RequestOptions options = options(HttpMethod.GET).putHeader("Accept", EVENT_STREAM);
    if (!HeaderValues.isSendable(cursor)) {
      throw new UpstreamException.Broken("an event id that no header can hold", null);
    }
    if (!cursor.isEmpty()) {
      options.putHeader("Last-Event-ID", HeaderValues.asUtf8(cursor));
    }
    Deadline answered = Deadline.after(settings.firstByteTimeout()).earlier(latest);
    return send(exchange, EventLoopClient::listeners, options, null, answered);
  }

  /** Asks to end the session. */
  public HttpExchange.Head delete(HttpExchange exchange) {
    Deadline answered = Deadline.after(DELETE_TIMEOUT);
    return send(exchange, EventLoopClient::calls, options(HttpMethod.DELETE), null, answered);
  }

  private HttpExchange.Head send(
      HttpExchange exchange,
      Function<EventLoopClient, EventLoopClient.Pool> pool,
      RequestOptions options,
      byte @Nullable [] payload,
      Deadline answered) {
    Deadline connected = Deadline.after(settings.connectTimeout());
    return exchange.send(pool, options, payload, connected, answered);
  }

  private RequestOptions options(HttpMethod method) {
    RequestOptions options = address(url).setMethod(method);
    settings.headers().forEach(options::putHeader);
    if (session != null) {
      options.putHeader(SESSION_ID, session);
    }
    if (protocolVersion != null) {
      // Asked for since 2025-06-18, and ignored before.
      options.putHeader("MCP-Protocol-Version", protocolVersion);
    }
    return options;
  }

  private static RequestOptions address(URI url) {
    boolean tls = isHttps(url);
    int port = port(url);
    String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
    String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
    String host = url.getHost();
    RequestOptions options =
        new RequestOptions().setSsl(tls).setHost(host).setPort(port).setURI(path + query);
    if (host.startsWith("[")) {
      // The header wants the brackets of an IPv6 address, the connection does not.
      String address = host.substring(1, host.length() - 1);
      options.setServer(SocketAddress.inetSocketAddress(port, address));
    }
    return options;
  }

  /** The port of a URL; the default port of its scheme when it names none. */
  public static int port(URI url) {
    if (url.getPort() >= 0) {
      return url.getPort();
    }
    return isHttps(url) ? 443 : 80;
  }

  private static boolean isHttps(URI url) {
    return "https".equalsIgnoreCase(url.getScheme());
  }
}

package dev.holdfast.http.socket;

import dev.holdfast.call.Endpoint;
import dev.holdfast.http.origin.OriginPolicy;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import io.quarkus.vertx.http.ManagementInterface;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Checks every request before the framework routes it: that its body has a length that every server
 * understands (RFC 9112, section 6.1), that it names one host (section 3.2), and that it names the
 * default upstream by its one path. On the port of health and metrics, the host and the origin must
 * be allowed, and no page can read an answer; {@code OriginFilter} checks the others.
 */
@Singleton
final class RequestFilter {

  /** Before the filters of Quarkus. */
  private static final int PRIORITY = 100_000;

  private static final int BAD_REQUEST = 400;
  private static final int FORBIDDEN = 403;
  private static final String NO_HOST = "A request must name one valid host";

  private final OriginPolicy policy;
  private final ServerSockets sockets;
  private final Optional<URI> console;

  RequestFilter(
      OriginPolicy policy,
      ServerSockets sockets,
      @ConfigProperty(name = "holdfast.operators.console-url") Optional<URI> console) {
    this.policy = policy;
    this.sockets = sockets;
    this.console = console;
  }

  void register(@Observes Filters filters) {
    filters.register(this::check, PRIORITY);
  }

  void register(@Observes ManagementInterface management) {
    management.router().route().order(Integer.MIN_VALUE).handler(this::checkManagement);
  }

  private void checkManagement(RoutingContext routing) {
    HttpServerRequest request = routing.request();
    // Quarkus lets pages of any origin read the answer.
    routing.addHeadersEndHandler(
        _ -> routing.response().headers().remove(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN));
    if (!policy.allowsProbe(request.getHeader(HttpHeaders.HOST)) && !isConsole(request)) {
      refuse(request, FORBIDDEN, "Host not allowed; see holdfast.http.allowed-hosts");
    } else if (!policy.allowsOrigin(request.getHeader(HttpHeaders.ORIGIN)) && !isConsole(request)) {
      refuse(request, FORBIDDEN, "Origin not allowed; see holdfast.http.allowed-origins");
    } else {
      check(routing);
    }
  }

  /** The console of operators who sign in has a name of its own, and checks the rest itself. */
  private boolean isConsole(HttpServerRequest request) {
    String host = request.getHeader(HttpHeaders.HOST);
    String origin = request.getHeader(HttpHeaders.ORIGIN);
    return console
        .filter(url -> url.getAuthority().equalsIgnoreCase(host))
        .filter(url ->
            origin == null
                || (url.getScheme() + "://" + url.getAuthority()).equalsIgnoreCase(origin))
        .isPresent();
  }

  private void check(RoutingContext routing) {
    HttpServerRequest request = routing.request();
    SocketGuard guard = SocketGuard.of(request);
    if (guard != null) {
      guard.begin(request);
    }
    sockets.begin(routing);
    if (!namesOneHost(request)) {
      refuse(request, BAD_REQUEST, NO_HOST);
    } else if (!hasKnownLength(request)) {
      refuse(request, BAD_REQUEST, "Unknown transfer coding");
    } else if (routing.normalizedPath().contains(Endpoint.SECOND_NAME)) {
      refuse(request, 404, "No such upstream");
    } else {
      routing.next();
    }
  }

  /** Vert.x requires a host in HTTP/1.1 only, but resources need one. */
  private static boolean namesOneHost(HttpServerRequest request) {
    return request.authority() != null
        && (request.version() == HttpVersion.HTTP_2
            || request.headers().getAll(HttpHeaders.HOST).size() == 1);
  }

  /** Netty has refused a length beside a coding, and codings that do not end with chunked. */
  private static boolean hasKnownLength(HttpServerRequest request) {
    List<String> codings = request.headers().getAll(HttpHeaders.TRANSFER_ENCODING);
    return codings.isEmpty() || String.join(",", codings).equalsIgnoreCase("chunked");
  }

  private static void refuse(HttpServerRequest request, int status, String message) {
    if (request.version() != HttpVersion.HTTP_2) {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    }
    answer(request, status, JsonRpcErrorCode.SERVER_ERROR, message);
  }

  /** Answers with an error, and closes the connection. */
  static void answer(HttpServerRequest request, int status, JsonRpcErrorCode code, String message) {
    Future<Void> _ =
        request
            .response()
            .setStatusCode(status)
            .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
            .end(Buffer.buffer(JsonRpcErrors.error(null, code, message)))
            .eventually(() -> request.connection().close());
  }
}

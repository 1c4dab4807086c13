package dev.holdfast.console;

import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.session.SessionStoreException;
import io.quarkus.vertx.http.ManagementInterface;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Serves the console on the port of health and metrics, which proxies do not forward to the world.
 * Only programs of this machine get it: under a loopback name, so that no page of another host
 * reaches it by DNS rebinding, and never for a page of another origin.
 *
 * @param console a provider, since routes are created before the store is connected
 */
@Singleton
record ConsoleRoutes(Provider<Console> console) {

  private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}\\z");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private static final Map<String, String> HEADERS =
      Map.of(
          "Cache-Control", "no-store",
          "X-Content-Type-Options", "nosniff",
          "X-Frame-Options", "DENY",
          "Referrer-Policy", "no-referrer",
          "Cross-Origin-Opener-Policy", "same-origin",
          "Cross-Origin-Resource-Policy", "same-origin");

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none';"
          + " form-action 'none'; frame-ancestors 'none'; connect-src 'self' ";

  void register(@Observes ManagementInterface management) {
    Router router = management.router();
    serve(router.get("/"), routing -> file(routing, "index.html", "text/html; charset=utf-8"));
    serve(
        router.get("/console/console.css"),
        routing -> file(routing, "console.css", "text/css; charset=utf-8"));
    serve(
        router.get("/console/console.js"),
        routing -> file(routing, "console.js", "text/javascript; charset=utf-8"));
    serve(
        router.get("/console/status"),
        routing -> json(routing, Optional.of(console.get().status())));
    serve(router.get("/console/sessions/:key"), onSession(key -> console.get().streams(key)));
    // Pages of other origins need a preflight for this method, and get no answer to it.
    serve(
        router.delete("/console/sessions/:key"),
        onSession(key ->
            console.get().end(key)
                ? Optional.of(new JsonObject().put("ended", true))
                : Optional.empty()));
  }

  private static Handler<RoutingContext> onSession(Function<String, Optional<JsonObject>> action) {
    return routing -> json(routing, action.apply(Objects.requireNonNull(routing.pathParam("key"))));
  }

  private void serve(Route route, Handler<RoutingContext> handler) {
    route.blockingHandler(routing -> check(routing, handler), false);
  }

  private void check(RoutingContext routing, Handler<RoutingContext> handler) {
    if (!console.get().isServed()) {
      routing.next();
      return;
    }
    HttpServerRequest request = routing.request();
    String host = hostWithoutPort(request);
    HttpServerResponse response = routing.response();
    HEADERS.forEach(response::putHeader);
    if (!LOOPBACK.contains(host) || isForeign(request)) {
      response.setStatusCode(403).end();
      return;
    }
    String clients = "http://" + host + ":" + console.get().port();
    response.putHeader("Content-Security-Policy", POLICY + clients);
    try {
      handler.handle(routing);
    } catch (SessionStoreException | LogException.StoreUnavailable | RedisException away) {
      response.setStatusCode(503).end();
    }
  }

  private static String hostWithoutPort(HttpServerRequest request) {
    String host = request.getHeader(HttpHeaders.HOST);
    return host == null ? "" : PORT.matcher(host).replaceFirst("");
  }

  /** Returns true if a page of another origin sends the request. */
  private static boolean isForeign(HttpServerRequest request) {
    @Nullable String origin = request.getHeader(HttpHeaders.ORIGIN);
    @Nullable String site = request.getHeader("Sec-Fetch-Site");
    String own = request.scheme() + "://" + request.getHeader(HttpHeaders.HOST);
    return (origin != null && !origin.equals(own))
        || (site != null && !site.equals("same-origin") && !isNavigation(request, site));
  }

  /** A link of another page may open the console: it changes nothing. */
  private static boolean isNavigation(HttpServerRequest request, String site) {
    return site.equals("none") || "navigate".equals(request.getHeader("Sec-Fetch-Mode"));
  }

  private static void file(RoutingContext routing, String name, String type) {
    try (InputStream in = ConsoleRoutes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + name);
      }
      routing
          .response()
          .putHeader(HttpHeaders.CONTENT_TYPE, type)
          .end(Buffer.buffer(in.readAllBytes()));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static void json(RoutingContext routing, Optional<JsonObject> found) {
    routing
        .response()
        .setStatusCode(found.isPresent() ? 200 : 404)
        .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
        .end(found.orElseGet(JsonObject::new).toBuffer());
  }
}

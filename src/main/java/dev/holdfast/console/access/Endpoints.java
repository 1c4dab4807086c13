package dev.holdfast.console.access;

import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.session.SessionStoreException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Adds the parts of the console to a router. Each request is checked before its part sees it: the
 * host, the origin, who sends it, and the right.
 *
 * @param access a supplier, since routes are created before the store is connected
 * @param path path of the console; on the port of health and metrics all is also served below the
 *     root, for proxies that remove it
 * @param ofClients whether it is the port for clients: it serves the console only to those who sign
 *     in
 * @param clientPort port of the gateway for clients, for pages without sign-in
 */
public record Endpoints(
    Router router,
    Supplier<Access> access,
    String path,
    boolean ofClients,
    IntSupplier clientPort) {

  /** Bytes of a body: the limit of the port of health and metrics. */
  private static final long MAX_BODY = 256 << 10;

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
          + " form-action 'none'; frame-ancestors 'none'; connect-src 'self'";

  /** Answers a request that may be anybody's. */
  public interface Open {
    /** Answers; the console has checked where the request comes from, and nothing else. */
    void answer(RoutingContext routing, Access access);
  }

  /** Adds a part for operators with a right. Without a result the answer is 404. */
  public void add(
      HttpMethod method,
      String name,
      Right right,
      Function<ConsoleRequest, Optional<JsonObject>> answer) {
    handle(method, name, right, request -> json(request.routing(), answer.apply(request)));
  }

  /** Adds a part for operators with a right, which answers by itself. */
  public void handle(
      HttpMethod method, String name, Right right, Consumer<ConsoleRequest> handler) {
    open(
        method,
        name,
        (routing, allowed) -> {
          Operator operator =
              allowed
                  .operator(routing.request())
                  .orElseThrow(() -> new RefusedException(401, "sign in first"));
          if (!operator.may(right)) {
            throw new RefusedException(403, "the right is missing");
          }
          handler.accept(new ConsoleRequest(routing, operator));
        });
  }

  /** Adds a part for everybody who may open the page. */
  public void open(HttpMethod method, String name, Open answer) {
    for (String prefix : prefixes()) {
      Route route = router.route(method, prefix + name);
      if (method.equals(HttpMethod.POST)) {
        route.handler(BodyHandler.create(false).setBodyLimit(MAX_BODY));
      }
      route.blockingHandler(routing -> check(routing, answer), false);
    }
  }

  /**
   * Refuses paths that begin with that of the console and lead out of it: a proxy that publishes
   * the console takes them for a part of it.
   */
  public void refuseDetours() {
    if (!path.isEmpty()) {
      var _ =
          router
              .route()
              .order(Integer.MIN_VALUE)
              .handler(routing -> {
                boolean isDetour =
                    String.valueOf(routing.request().path()).startsWith(path + "/")
                        && !routing.normalizedPath().startsWith(path + "/");
                if (isDetour) {
                  refuse(routing.response(), 404, "no such page");
                } else {
                  routing.next();
                }
              });
    }
  }

  /**
   * Refuses what was not added below the path of the console, such as preflights: the port for
   * clients answers them as its own configuration says.
   */
  public void refuseOthers() {
    if (ofClients) {
      var _ =
          router
              .route(path + "/*")
              .handler(routing -> refuse(routing.response(), 404, "no such page"));
    }
  }

  private List<String> prefixes() {
    return ofClients ? List.of(path) : Stream.of("", path).distinct().toList();
  }

  private void check(RoutingContext routing, Open answer) {
    Access allowed = access.get();
    if (!allowed.served() || (ofClients && !allowed.needsSignIn())) {
      routing.next();
      return;
    }
    HttpServerResponse response = routing.response();
    HEADERS.forEach(response::putHeader);
    boolean isAllowed = allowed.allows(routing.request());
    response.putHeader(
        "Content-Security-Policy", policy(routing, isAllowed && !allowed.needsSignIn()));
    try {
      if (!isAllowed) {
        throw new RefusedException(403, "another host or origin");
      }
      answer.answer(routing, allowed);
    } catch (RefusedException refused) {
      refuse(response, refused.status(), String.valueOf(refused.getMessage()));
    } catch (SessionStoreException | LogException.StoreUnavailable | RedisException away) {
      refuse(response, 503, "the store is away");
    }
  }

  /** A page without sign-in may also call the gateway, as a client does. */
  private String policy(RoutingContext routing, boolean isCaller) {
    String host = Objects.requireNonNullElse(routing.request().getHeader(HttpHeaders.HOST), "");
    return isCaller
        ? POLICY + " http://" + Access.withoutPort(host) + ":" + clientPort.getAsInt()
        : POLICY;
  }

  private static void refuse(HttpServerResponse response, int status, String text) {
    response.setStatusCode(status);
    response.putHeader(HttpHeaders.CONTENT_TYPE, "application/json");
    var _ = response.end(new JsonObject().put("error", text).toBuffer());
  }

  private static void json(RoutingContext routing, Optional<JsonObject> found) {
    var _ =
        routing
            .response()
            .setStatusCode(found.isPresent() ? 200 : 404)
            .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
            .end(found.orElseGet(JsonObject::new).toBuffer());
  }
}

package dev.holdfast.console.access;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import java.util.Objects;
import java.util.Optional;

/** A request of an operator, who has the right to it. */
public record ConsoleRequest(RoutingContext routing, Operator operator) {

  /** A part of the path. */
  public String path(String name) {
    return Objects.requireNonNull(routing.pathParam(name));
  }

  /** A parameter; empty when it is missing. */
  public String query(String name) {
    return Objects.requireNonNullElse(routing.request().getParam(name), "");
  }

  /**
   * A number in a parameter.
   *
   * @throws RefusedException when it is none of at most nine digits
   */
  public int number(String name, int otherwise) {
    String text = query(name);
    if (text.isEmpty()) {
      return otherwise;
    }
    if (!text.matches("\\d{1,9}")) {
      throw new RefusedException(400, name + " must be a number");
    }
    return Integer.parseInt(text);
  }

  /**
   * The body.
   *
   * @throws RefusedException when it is no JSON object
   */
  public JsonObject body() {
    return body(routing);
  }

  static JsonObject body(RoutingContext routing) {
    // Another type could come from a form of any page.
    String type = Objects.requireNonNullElse(routing.request().getHeader("Content-Type"), "");
    try {
      if (type.equals("application/json")) {
        return Optional.ofNullable(routing.body().asJsonObject()).orElseGet(JsonObject::new);
      }
    } catch (DecodeException | ClassCastException malformed) {
      throw new RefusedException(400, "the body must be a JSON object");
    }
    throw new RefusedException(415, "the body must be JSON");
  }

  /** The address that sends it; behind a proxy that of the proxy. */
  public String address() {
    return address(routing);
  }

  static String address(RoutingContext routing) {
    SocketAddress remote = routing.request().remoteAddress();
    return remote == null ? "" : Objects.requireNonNullElse(remote.hostAddress(), "");
  }
}

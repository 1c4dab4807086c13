package dev.holdfast.wiring;

import dev.holdfast.http.ClientAddressResolver;
import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Singleton;

/** Reads the address of the current request, which Quarkus takes from trusted proxies. */
@Singleton
final class VertxClientAddresses implements ClientAddressResolver {

  private static final String UNKNOWN = "unknown";

  private final CurrentVertxRequest request;

  VertxClientAddresses(CurrentVertxRequest request) {
    this.request = request;
  }

  @Override
  public String current() {
    RoutingContext current = request.getCurrent();
    SocketAddress address = current == null ? null : current.request().remoteAddress();
    if (address == null) {
      return UNKNOWN;
    }
    // A domain socket has no host address.
    String host = address.hostAddress() == null ? address.host() : address.hostAddress();
    return host == null ? UNKNOWN : host;
  }
}

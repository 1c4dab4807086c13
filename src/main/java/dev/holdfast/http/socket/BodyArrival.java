package dev.holdfast.http.socket;

import static java.util.Objects.requireNonNull;

import io.vertx.core.Vertx;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.ext.Provider;
import java.io.InputStream;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Asks the socket for the first bytes of a body while the request is still on its event loop, and
 * lets the event loop deliver what it has read with the head. A small body is then there when the
 * thread of the request reads it. Otherwise that thread would have to wait, with a timer. The rest
 * of a large body waits in the socket.
 */
@Provider
@PreMatching
public final class BodyArrival implements ContainerRequestFilter {

  /** Creating the stream asks for one read of the socket. The framework keeps the stream. */
  @Override
  public void filter(ContainerRequestContext request) {
    if (request.getMethod().equals(HttpMethod.POST)) {
      var context = (ResteasyReactiveContainerRequestContext) request;
      InputStream _ = context.getServerRequestContext().getInputStream();
      context.suspend();
      // This task runs after the handlers of the bytes that were read together with the head.
      requireNonNull(Vertx.currentContext()).runOnContext(_ -> context.resume());
    }
  }
}

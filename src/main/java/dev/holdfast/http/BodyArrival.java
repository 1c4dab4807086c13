package dev.holdfast.http;

import jakarta.inject.Singleton;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.io.InputStream;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Asks the socket for the first bytes of a body while the request is still on its event loop. A
 * small body is then there when the thread of the request reads it. Otherwise that thread would
 * have to ask the event loop and to wait. The rest of a large body waits in the socket.
 */
@Singleton
final class BodyArrival {

  /** Creating the stream asks for one read of the socket. The framework keeps the stream. */
  @ServerRequestFilter(preMatching = true)
  void begin(ContainerRequestContext request) {
    if (request.getMethod().equals(HttpMethod.POST)
        && request instanceof ResteasyReactiveContainerRequestContext context) {
      InputStream _ = context.getServerRequestContext().getInputStream();
    }
  }
}

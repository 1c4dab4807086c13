package dev.holdfast.http.socket;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.ext.Provider;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Closes the connection of a refused request whose body was not read. Otherwise the server would
 * read the rest before the next request, for as long as the client takes.
 *
 * <p>A {@link ContainerResponseFilter} and not a {@code @ServerResponseFilter}, which cannot reach
 * the connection.
 */
@Provider
public final class UnreadBodyFilter implements ContainerResponseFilter {

  private static final int FIRST_ERROR = 400;

  @Override
  public void filter(ContainerRequestContext request, ContainerResponseContext response) {
    if (response.getStatus() >= FIRST_ERROR
        && request instanceof ResteasyReactiveContainerRequestContext context) {
      ClientSocket.closeUnlessRead(context.getServerRequestContext(), response.getStatus());
    }
  }
}

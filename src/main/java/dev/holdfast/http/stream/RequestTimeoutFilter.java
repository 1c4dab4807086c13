package dev.holdfast.http.stream;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Closes the connection after a 408 (RFC 9110, section 15.5.9). Otherwise the server would read the
 * rest of the slow body before the next request.
 *
 * <p>A {@link ContainerResponseFilter} and not a {@code @ServerResponseFilter}, which cannot reach
 * the connection.
 */
@Provider
public final class RequestTimeoutFilter implements ContainerResponseFilter {

  @Override
  public void filter(ContainerRequestContext request, ContainerResponseContext response) {
    if (response.getStatus() == Response.Status.REQUEST_TIMEOUT.getStatusCode()
        && request instanceof ResteasyReactiveContainerRequestContext context) {
      ClientSocket.closeAfterResponse(context.getServerRequestContext());
    }
  }
}

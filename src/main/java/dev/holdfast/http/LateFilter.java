package dev.holdfast.http;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Closes the connection of a client that was told that it is late (RFC 9110, section 15.5.9): what
 * is left of its body would be read before its next request, at the same pace.
 *
 * <p>Not found by annotations, as the other filters are: those get no sight of the connection.
 */
@Provider
public final class LateFilter implements ContainerResponseFilter {

  @Override
  public void filter(ContainerRequestContext request, ContainerResponseContext response) {
    if (response.getStatus() == Response.Status.REQUEST_TIMEOUT.getStatusCode()
        && request instanceof ResteasyReactiveContainerRequestContext here) {
      ClientSocket.closeAfterAnswer(here.getServerRequestContext());
    }
  }
}

package dev.holdfast.http.socket;

import jakarta.inject.Provider;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveContainerRequestContext;

/**
 * Reports each error response of all resources and filters to the listener, and closes the
 * connection of a refused request whose body was not read. Otherwise the server would read the rest
 * before the next request, for as long as the client takes.
 *
 * <p>A {@link ContainerResponseFilter} and not a {@code @ServerResponseFilter}, which cannot reach
 * the connection.
 */
@jakarta.ws.rs.ext.Provider
public final class ErrorFilter implements ContainerResponseFilter {

  private static final int FIRST_ERROR = 400;

  private final Provider<Listener> listener;

  /** Observes HTTP responses. Called on request threads, so it must not block. */
  @FunctionalInterface
  public interface Listener {

    /** Called when a request was answered with an error status, 400 or more. */
    void answeredWithError(int status);
  }

  /** Quarkus creates filters before the listener exists, hence the provider. */
  ErrorFilter(Provider<Listener> listener) {
    this.listener = listener;
  }

  @Override
  public void filter(ContainerRequestContext request, ContainerResponseContext response) {
    int status = response.getStatus();
    if (status < FIRST_ERROR) {
      return;
    }
    listener.get().answeredWithError(status);
    if (request instanceof ResteasyReactiveContainerRequestContext context) {
      ClientSocket.closeUnlessRead(context.getServerRequestContext(), status);
    }
  }
}

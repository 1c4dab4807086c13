package dev.holdfast.http.error;

import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerResponseContext;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/** Reports each error response of all resources and filters to the listener. */
@Singleton
final class ErrorCountFilter {

  private static final int FIRST_ERROR = 400;

  private final Provider<HttpListener> listener;

  /** Quarkus creates filters before the listener exists, hence the provider. */
  ErrorCountFilter(Provider<HttpListener> listener) {
    this.listener = listener;
  }

  @ServerResponseFilter
  void count(ContainerResponseContext response) {
    if (response.getStatus() >= FIRST_ERROR) {
      listener.get().answeredWithError(response.getStatus());
    }
  }
}

package dev.holdfast.http.error;

import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerResponseContext;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/** Reports each error response of all resources and filters to the listener. */
@Singleton
public final class ErrorCountFilter {

  private static final int FIRST_ERROR = 400;

  private final Provider<Listener> listener;

  /** Observes HTTP responses. Called on request threads, so it must not block. */
  @FunctionalInterface
  public interface Listener {

    /** Called when a request was answered with an error status, 400 or more. */
    void answeredWithError(int status);
  }

  /** Quarkus creates filters before the listener exists, hence the provider. */
  ErrorCountFilter(Provider<Listener> listener) {
    this.listener = listener;
  }

  @ServerResponseFilter
  void count(ContainerResponseContext response) {
    if (response.getStatus() >= FIRST_ERROR) {
      listener.get().answeredWithError(response.getStatus());
    }
  }
}

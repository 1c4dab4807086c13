package dev.holdfast.http;

import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerResponseContext;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/** Tells of every request that was refused, whoever refused it. */
@Singleton
final class AnswerFilter {

  private static final int FIRST_ERROR = 400;

  private final Provider<HttpListener> listener;

  /** Filters are made before all else, hence the provider. */
  AnswerFilter(Provider<HttpListener> listener) {
    this.listener = listener;
  }

  @ServerResponseFilter
  void answered(ContainerResponseContext response) {
    if (response.getStatus() >= FIRST_ERROR) {
      listener.get().refused(response.getStatus());
    }
  }
}

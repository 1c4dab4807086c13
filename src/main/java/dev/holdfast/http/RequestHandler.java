package dev.holdfast.http;

import dev.holdfast.call.Endpoint;
import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.relay.stream.TraceListener;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.function.Function;

/** Runs all requests to upstreams: admits them, and turns failures into error responses. */
@Singleton
record RequestHandler(RequestSteps steps, ContainerRequestContext current, HttpHeaders headers) {

  /**
   * Runs a request. A failure becomes an error response.
   *
   * @param server the part of the path that {@link Endpoint#SERVER} matches
   * @param work answers the request when it is admitted
   */
  Response handle(String server, Function<RequestInProgress, Response> work) {
    String upstream = Endpoint.upstream(server);
    TraceListener traces = steps.traces();
    if (traces == null) {
      return answer(upstream, work);
    }
    try (TraceListener.Request span =
        traces.request(upstream, current.getMethod(), current::getHeaderString)) {
      Response response = answer(upstream, work);
      span.answered(response.getStatus());
      return response;
    }
  }

  private Response answer(String upstream, Function<RequestInProgress, Response> work) {
    try (RequestInProgress request = new RequestInProgress(steps, upstream, headers)) {
      try {
        return work.apply(request);
      } catch (RuntimeException failure) {
        return ErrorResponses.of(failure, request.id());
      }
    } catch (RuntimeException refused) {
      return ErrorResponses.of(refused, null);
    }
  }
}

package dev.holdfast.http;

import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.session.Session;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.Response;
import java.util.function.Function;

/** Runs all requests to upstreams: admits them, and turns failures into error responses. */
@Singleton
record RequestHandler(RequestSteps steps, ContainerRequestContext current) {

  private static final String SERVERS = "servers/";

  /** The path of a named upstream, or nothing for the default one. */
  static final String SERVER = "/{server: (?:servers/[^/]+/)?}";

  /** The same with an alias, for clients that append {@code /sse} to the URL of a server. */
  static final String SERVER_OR_MCP = "/{server: (?:servers/[^/]+/|mcp/)?}";

  /**
   * Runs a request. A failure becomes an error response.
   *
   * @param server the part of the path that {@link #SERVER} matches
   * @param work answers the request when it is admitted
   */
  Response handle(String server, Function<RequestInProgress, Response> work) {
    String upstream =
        server.startsWith(SERVERS)
            ? server.substring(SERVERS.length(), server.length() - 1)
            : Session.DEFAULT_UPSTREAM;
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
    try (RequestInProgress request = new RequestInProgress(steps, upstream, current)) {
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

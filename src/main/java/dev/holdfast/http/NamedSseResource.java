package dev.holdfast.http;

import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;

/** {@code /servers/{name}/sse}: HTTP with SSE for a named upstream. */
@Path("/servers/{name}/sse")
@RunOnVirtualThread
public final class NamedSseResource {

  private final SseEndpoint endpoint;

  NamedSseResource(SseEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Opens a session or, with {@code Last-Event-ID}, resumes it. */
  @GET
  public Response get(
      @PathParam("name") String name, @Context HttpHeaders headers, @Context UriInfo uri) {
    return endpoint.get(name, headers, uri);
  }

  /** Refuses: a stream without a body would follow nothing, and hold its place for ever. */
  @HEAD
  public Response head() {
    return endpoint.head();
  }
}

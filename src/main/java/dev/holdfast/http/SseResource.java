package dev.holdfast.http;

import dev.holdfast.session.Session;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;

/** {@code /sse}: HTTP with SSE for the default upstream. */
@Path("/sse")
@RunOnVirtualThread
public final class SseResource {

  private final SseEndpoint endpoint;

  SseResource(SseEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Opens a session or, with {@code Last-Event-ID}, resumes it. */
  @GET
  public Response get(@Context HttpHeaders headers, @Context UriInfo uri) {
    return endpoint.get(Session.DEFAULT_UPSTREAM, headers, uri);
  }

  /** Refuses: a stream without a body would follow nothing, and hold its place for ever. */
  @HEAD
  public Response head() {
    return endpoint.head();
  }
}

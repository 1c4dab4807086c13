package dev.holdfast.http;

import dev.holdfast.session.Session;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.io.InputStream;

/** {@code /mcp}: Streamable HTTP, and {@code /mcp/sse}: HTTP with SSE, for the default upstream. */
@Path("/mcp")
@RunOnVirtualThread
public final class McpResource {

  private final McpEndpoint endpoint;
  private final SseEndpoint sse;

  McpResource(McpEndpoint endpoint, SseEndpoint sse) {
    this.endpoint = endpoint;
    this.sse = sse;
  }

  /** Opens a session over HTTP with SSE or, with {@code Last-Event-ID}, resumes it. */
  @GET
  @Path("/sse")
  public Response sse(@Context HttpHeaders headers, @Context UriInfo uri) {
    return sse.get(Session.DEFAULT_UPSTREAM, headers, uri);
  }

  /** Refuses, as {@link #head()} does. */
  @HEAD
  @Path("/sse")
  public Response sseHead() {
    return sse.head();
  }

  /** Takes a message; a request is answered with JSON or with a durable stream. */
  @POST
  public Response post(@Context HttpHeaders headers, InputStream body) {
    return endpoint.post(Session.DEFAULT_UPSTREAM, headers, body);
  }

  /** Follows the standalone stream or, with {@code Last-Event-ID}, resumes any stream. */
  @GET
  public Response get(@Context HttpHeaders headers) {
    return endpoint.get(Session.DEFAULT_UPSTREAM, headers);
  }

  /** Refuses: a stream without a body would follow nothing, and hold its place for ever. */
  @HEAD
  public Response head() {
    return endpoint.head();
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@Context HttpHeaders headers) {
    return endpoint.delete(Session.DEFAULT_UPSTREAM, headers);
  }
}

package dev.holdfast.http;

import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;

/** {@code /servers/{name}/mcp}: Streamable HTTP for a named upstream. */
@Path("/servers/{name}/mcp")
@RunOnVirtualThread
public final class NamedMcpResource {

  private final McpEndpoint endpoint;

  NamedMcpResource(McpEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Takes a message; a request is answered with JSON or with a durable stream. */
  @POST
  public Response post(
      @PathParam("name") String name, @Context HttpHeaders headers, InputStream body) {
    return endpoint.post(name, headers, body);
  }

  /** Follows the standalone stream or, with {@code Last-Event-ID}, resumes any stream. */
  @GET
  public Response get(@PathParam("name") String name, @Context HttpHeaders headers) {
    return endpoint.get(name, headers);
  }

  /** Refuses: a stream without a body would follow nothing, and hold its place for ever. */
  @HEAD
  public Response head() {
    return endpoint.head();
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@PathParam("name") String name, @Context HttpHeaders headers) {
    return endpoint.delete(name, headers);
  }
}

package dev.holdfast.http;

import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;

/** {@code /servers/{name}/messages}: where clients over HTTP with SSE send, to a named upstream. */
@Path("/servers/{name}/messages/{session}")
@RunOnVirtualThread
public final class NamedSseMessagesResource {

  private final SseEndpoint endpoint;

  NamedSseMessagesResource(SseEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Takes messages; answers come on the stream of the session. */
  @POST
  public Response post(
      @PathParam("name") String name,
      @PathParam("session") String session,
      @Context HttpHeaders headers,
      InputStream body) {
    return endpoint.post(name, session, headers, body);
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@PathParam("name") String name, @PathParam("session") String session) {
    return endpoint.delete(name, session);
  }
}

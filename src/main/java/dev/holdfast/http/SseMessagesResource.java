package dev.holdfast.http;

import dev.holdfast.session.Session;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;

/** {@code /messages}: where clients over HTTP with SSE send, to the default upstream. */
@Path("/messages/{session}")
@RunOnVirtualThread
public final class SseMessagesResource {

  private final SseEndpoint endpoint;

  SseMessagesResource(SseEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Takes messages; answers come on the stream of the session. */
  @POST
  public Response post(
      @PathParam("session") String session, @Context HttpHeaders headers, InputStream body) {
    return endpoint.post(Session.DEFAULT_UPSTREAM, session, headers, body);
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@PathParam("session") String session) {
    return endpoint.delete(Session.DEFAULT_UPSTREAM, session);
  }
}

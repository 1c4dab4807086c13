package dev.holdfast.http;

import dev.holdfast.call.Conversation;
import dev.holdfast.call.Endpoint;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;

/**
 * Takes the messages of clients over HTTP with SSE (MCP 2024-11-05, Transports) for one upstream.
 * The answers are events of the stream of {@link SseResource}.
 */
@Path(Endpoint.SERVER + Endpoint.MESSAGES + "{session: [^/]+}")
@RunOnVirtualThread
public final class SseMessagesResource {

  private static final String ACCEPTED = "{\"status\":\"accepted\"}";

  private final Relay relay;
  private final RequestHandler handler;

  SseMessagesResource(Relay relay, RequestHandler handler) {
    this.relay = relay;
    this.handler = handler;
  }

  /** Takes a message. */
  @POST
  public Response post(
      @PathParam("server") String server,
      @PathParam("session") String session,
      InputStream content) {
    return handler.handle(server, request -> take(request, session, content));
  }

  private Response take(RequestInProgress request, String session, InputStream content) {
    RequestChecks.checkContentType(request.headers());
    RequestChecks.checkVersion(request.headers());
    var named = new Conversation.Sse(RequestChecks.sessionId(session));
    // Before the body, which a client may never finish.
    relay.enter(request.upstream(), named, request.caller());
    Reply _ = request.take(named, request.read(content));
    return Response.accepted(ACCEPTED).type(MediaType.APPLICATION_JSON_TYPE).build();
  }

  /** Ends the session at once. Without it the session expires. */
  @DELETE
  public Response delete(@PathParam("server") String server, @PathParam("session") String session) {
    return handler.handle(server, request -> end(request, session));
  }

  private Response end(RequestInProgress request, String session) {
    var named = new Conversation.Sse(RequestChecks.sessionId(session));
    relay.end(request.upstream(), named, request.caller());
    return Response.noContent().build();
  }
}

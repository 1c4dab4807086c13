package dev.holdfast.http;

import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;

/**
 * Takes the messages of clients over HTTP with SSE (MCP 2024-11-05, Transports) for one upstream.
 * The answers are events of the stream of {@link SseResource}.
 */
@Path(RequestHandler.SERVER + "messages/{session: [^/]+}")
@RunOnVirtualThread
public final class SseMessagesResource {

  private static final String ACCEPTED = "{\"status\":\"accepted\"}";

  private final Relay relay;
  private final LegacySseRelay legacy;
  private final RequestHandler handler;

  SseMessagesResource(Relay relay, LegacySseRelay legacy, RequestHandler handler) {
    this.relay = relay;
    this.legacy = legacy;
    this.handler = handler;
  }

  /** Takes a message. */
  @POST
  public Response post(
      @PathParam("server") String server,
      @PathParam("session") String session,
      @Context HttpHeaders headers,
      InputStream content) {
    return handler.handle(
        server,
        upstream -> {
          RequestChecks.checkContentType(headers);
          RequestChecks.checkVersion(headers);
          SessionId id = RequestChecks.sessionId(session);
          // Before the body, which a client may never finish.
          relay.sessions().require(upstream, id, true, handler.principal());
          return handler.withBody(
              headers,
              content,
              (body, lease) -> {
                Session found = legacy.session(upstream, id, body, handler.principal());
                return handler.inSession(found, () -> accept(found, body, lease));
              });
        });
  }

  private Response accept(Session session, Body body, ClientBytes.Lease lease) {
    RequestChecks.checkBatch(session.version(), body);
    Sender sender = handler.sender(session.upstream());
    if (body.requestIds().isEmpty()) {
      relay.send(session, body, sender);
    } else {
      legacy.request(session, body, sender, lease::release);
      lease.handOver();
    }
    return Response.accepted(ACCEPTED).type(MediaType.APPLICATION_JSON_TYPE).build();
  }

  /** Ends the session at once. Without it the session expires. */
  @DELETE
  public Response delete(@PathParam("server") String server, @PathParam("session") String session) {
    return handler.handle(
        server,
        upstream ->
            handler.end(
                legacy.session(upstream, RequestChecks.sessionId(session), handler.principal())));
  }
}

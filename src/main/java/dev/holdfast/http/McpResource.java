package dev.holdfast.http;

import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.sse.SseWriter;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Streamable HTTP (MCP 2025-03-26 to 2025-11-25, Transports) for one upstream. */
@Path(RequestHandler.SERVER + "mcp")
@RunOnVirtualThread
public final class McpResource {

  private final Relay relay;
  private final RequestHandler handler;

  McpResource(Relay relay, RequestHandler handler) {
    this.relay = relay;
    this.handler = handler;
  }

  /** Takes a message. Answers a request with JSON or with a durable stream. */
  @POST
  public Response post(
      @PathParam("server") String server, @Context HttpHeaders headers, InputStream content) {
    return handler.handle(
        server,
        upstream -> {
          RequestChecks.checkPost(headers);
          // Before the body, which a client may never finish.
          if (headers.getHeaderString(McpHeaders.SESSION_ID) == null) {
            relay.requireAdmission();
          } else {
            relay
                .sessions()
                .require(upstream, RequestChecks.sessionId(headers), false, handler.principal());
          }
          return handler.withBody(
              headers, content, (body, lease) -> take(upstream, headers, body, lease));
        });
  }

  private Response take(String upstream, HttpHeaders headers, Body body, ClientBytes.Lease lease) {
    if (body instanceof Body.Single(Message.Request request) && request.isInitialize()) {
      return initialized(
          relay.initialize(upstream, request, handler.opener(upstream), handler.principal()));
    }
    RequestChecks.checkVersion(headers);
    Session session =
        relay.session(upstream, RequestChecks.sessionId(headers), body, handler.principal());
    return handler.inSession(session, () -> answer(session, body, lease));
  }

  private Response initialized(SessionOpener.InitializeReply reply) {
    List<byte[]> messages = reply.messages();
    Response.ResponseBuilder response;
    if (messages.size() == 1) {
      response = Response.ok(messages.getFirst(), MediaType.APPLICATION_JSON_TYPE);
    } else {
      SseWriter frames = new SseWriter();
      messages.forEach(message -> frames.event(null, null, null, message));
      response = Response.ok(frames.take(), MediaType.SERVER_SENT_EVENTS_TYPE);
    }
    Session session = reply.session();
    if (session != null) {
      handler.count(session, false);
      handler.found(session);
      response.header(McpHeaders.SESSION_ID, session.id().value());
    }
    return response.build();
  }

  private Response answer(Session session, Body body, ClientBytes.Lease lease) {
    RequestChecks.checkBatch(session.version(), body);
    if (body.requestIds().isEmpty()) {
      relay.send(session, body, handler.sender(session.upstream()));
      return Response.accepted().build();
    }
    Sender sender = handler.sender(session.upstream());
    // The slot comes first: after the upstream has the call, the client must get its answer.
    return handler.withConnection(slot ->
        switch (relay.request(session, body, sender, lease::release)) {
          case Relay.Reply.Json json -> handler.answer(json.document(), slot);
          case Relay.Reply.Stream stream -> {
            lease.handOver();
            yield handler.stream(stream.tail(), slot);
          }
        });
  }

  /** Follows the standalone stream or, with {@code Last-Event-ID}, resumes any stream. */
  @GET
  public Response get(@PathParam("server") String server, @Context HttpHeaders headers) {
    return handler.handle(
        server,
        upstream -> {
          RequestChecks.checkGet(headers);
          RequestChecks.checkVersion(headers);
          SessionId id = RequestChecks.sessionId(headers);
          Function<Session, Optional<Tail>> tail =
              tail(id, headers.getHeaderString(McpHeaders.LAST_EVENT_ID));
          Session session = relay.session(upstream, id, handler.principal());
          return handler.inSession(
              session, () -> handler.withConnection(slot -> follow(tail.apply(session), slot)));
        });
  }

  private Response follow(Optional<Tail> tail, ConnectionLimit.Slot slot) {
    if (tail.isPresent()) {
      return handler.stream(tail.get(), slot);
    }
    slot.release();
    // A 204 stops an event source (HTML, Server-sent events). The TypeScript SDK does not stop at a
    // JSON-RPC error: it would ask for the rest of the stream forever.
    return Response.noContent().build();
  }

  /** Returns how to follow the requested stream; empty when the client has all of its events. */
  private Function<Session, Optional<Tail>> tail(SessionId id, @Nullable String lastEventId) {
    if (lastEventId == null || lastEventId.isEmpty()) {
      return session -> Optional.of(relay.listen(session, false));
    }
    Optional<EventId> last = EventId.parse(lastEventId);
    if (last.isEmpty()) {
      RequestChecks.warnOfMalformedEventId("replaying the whole stream");
      return session -> Optional.of(relay.listen(session, true));
    }
    // A page of somebody else's stream is not read, or the size of the page would show in the time.
    return handler.principal().equals(PrincipalId.ANONYMOUS)
        ? relay.resume(id, last.get())
        : session -> relay.resume(session, last.get());
  }

  /** Refuses: a response without a body cannot follow a stream. */
  @HEAD
  public Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "POST, GET, DELETE").build();
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@PathParam("server") String server, @Context HttpHeaders headers) {
    return handler.handle(
        server,
        upstream ->
            handler.end(
                relay.session(upstream, RequestChecks.sessionId(headers), handler.principal())));
  }
}

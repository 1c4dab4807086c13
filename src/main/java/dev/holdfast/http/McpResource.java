package dev.holdfast.http;

import dev.holdfast.call.Conversation;
import dev.holdfast.call.Endpoint;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.era.north.StatelessRelay;
import dev.holdfast.held.CallReader;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.StreamHeaders;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import dev.holdfast.sse.SseWriter;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Streamable HTTP (MCP 2025-03-26 to 2025-11-25, Transports) for one upstream. */
@Path(Endpoint.SERVER + Endpoint.MCP)
@RunOnVirtualThread
public final class McpResource {

  private final Relay relay;
  private final RequestHandler handler;
  private final CallReader calls;

  McpResource(Relay relay, RequestHandler handler, CallReader calls) {
    this.relay = relay;
    this.handler = handler;
    this.calls = calls;
  }

  /** Takes a message. Answers a request with JSON or with a durable stream. */
  @POST
  public Response post(@PathParam("server") String server, InputStream content) {
    return handler.handle(server, request -> take(request, content));
  }

  private Response take(RequestInProgress request, InputStream content) {
    HttpHeaders headers = request.headers();
    RequestChecks.checkPost(headers);
    String version = headers.getHeaderString(McpHeaders.PROTOCOL_VERSION);
    boolean named =
        headers.getHeaderString(McpHeaders.SESSION_ID) != null && !StatelessRelay.accepts(version);
    // Before the body, which a client may never finish.
    relay.enter(request.upstream(), named ? session(headers) : null, request.caller());
    Body body = request.read(content);
    Conversation conversation = conversation(headers, body, version);
    if (conversation instanceof Conversation.Single
        || (conversation instanceof Conversation.InSession && !body.requestIds().isEmpty())) {
      request.connect();
    }
    return answer(request, body, request.take(conversation, body));
  }

  private static Conversation conversation(
      HttpHeaders headers, Body body, @Nullable String version) {
    if (StatelessRelay.accepts(body, version)) {
      return new Conversation.Single(headers::getHeaderString);
    }
    Message.Request initialize = Exchange.initializeIn(body);
    if (initialize != null) {
      return new Conversation.Opening(initialize);
    }
    RequestChecks.checkVersion(headers);
    return session(headers);
  }

  private static Conversation.Streamable session(HttpHeaders headers) {
    return new Conversation.Streamable(RequestChecks.sessionId(headers));
  }

  private Response answer(RequestInProgress request, Body body, Reply reply) {
    return switch (reply) {
      case Reply.Acknowledgement _ -> Response.accepted().build();
      case Reply.Initialization(SessionOpener.InitializeReply opened) -> initialized(opened);
      case Reply.Json(byte[] document, int status) -> request.json(document, status);
      case Reply.Stream(Tail tail, _) -> named(request, body, tail);
    };
  }

  /** Adds the handle of a call to its response. */
  private Response named(RequestInProgress request, Body body, Tail tail) {
    Response response = request.stream(tail);
    return calls
        .handle(request.upstream(), request.caller().principal(), body, tail.stream())
        .map(handle -> Response.fromResponse(response).header(StreamHeaders.CALL, handle).build())
        .orElse(response);
  }

  private static Response initialized(SessionOpener.InitializeReply opened) {
    List<byte[]> messages = opened.messages();
    Response.ResponseBuilder response;
    if (messages.size() == 1) {
      response = Response.ok(messages.getFirst(), MediaType.APPLICATION_JSON_TYPE);
    } else {
      SseWriter frames = new SseWriter();
      messages.forEach(message -> frames.event(null, null, null, message));
      response = Response.ok(frames.take(), MediaType.SERVER_SENT_EVENTS_TYPE);
    }
    Session session = opened.session();
    if (session != null) {
      response.header(McpHeaders.SESSION_ID, session.id().value());
    }
    return response.build();
  }

  /** Follows the standalone stream or, with {@code Last-Event-ID}, resumes any stream. */
  @GET
  public Response get(@PathParam("server") String server) {
    return handler.handle(server, this::follow);
  }

  private Response follow(RequestInProgress request) {
    HttpHeaders headers = request.headers();
    RequestChecks.checkGet(headers);
    if (isStateless(headers)) {
      EventId last = lastStatelessEvent(headers).orElseThrow(McpResource::notAllowed);
      request.connectInTurn();
      return request.resume(null, last);
    }
    RequestChecks.checkVersion(headers);
    SessionId session = RequestChecks.sessionId(headers);
    request.connectInTurn();
    String lastEventId = headers.getHeaderString(McpHeaders.LAST_EVENT_ID);
    boolean isNew = lastEventId == null || lastEventId.isEmpty();
    Optional<EventId> last = isNew ? Optional.empty() : EventId.parse(lastEventId);
    if (last.isPresent()) {
      return request.resume(session, last.get());
    }
    if (!isNew) {
      RequestChecks.warnOfMalformedEventId("replaying the whole stream");
    }
    return request.stream(relay.listen(request.upstream(), session, request.caller(), !isNew));
  }

  /**
   * Returns true if no header names a session, but one a revision without sessions or its event.
   */
  private static boolean isStateless(HttpHeaders headers) {
    return headers.getHeaderString(McpHeaders.SESSION_ID) == null
        && (StatelessRelay.accepts(headers.getHeaderString(McpHeaders.PROTOCOL_VERSION))
            || lastStatelessEvent(headers).isPresent());
  }

  private static Optional<EventId> lastStatelessEvent(HttpHeaders headers) {
    return Optional.ofNullable(headers.getHeaderString(McpHeaders.LAST_EVENT_ID))
        .flatMap(EventId::parseWithSession);
  }

  private static RequestRejectedException notAllowed() {
    return new RequestRejectedException(
        405, JsonRpcErrorCode.METHOD_NOT_FOUND, "This revision has only POST");
  }

  /** Refuses: a response without a body cannot follow a stream. */
  @HEAD
  public Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "POST, GET, DELETE").build();
  }

  /** Ends the session. */
  @DELETE
  public Response delete(@PathParam("server") String server) {
    return handler.handle(server, this::end);
  }

  private Response end(RequestInProgress request) {
    if (isStateless(request.headers())) {
      throw notAllowed();
    }
    relay.end(request.upstream(), session(request.headers()), request.caller());
    return Response.noContent().build();
  }
}

package dev.holdfast.http;

import dev.holdfast.call.Endpoint;
import dev.holdfast.call.SessionId;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.log.LogException;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.sse.SseWriter;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * The stream of HTTP with SSE (MCP 2024-11-05, Transports) for one upstream. Its events have ids,
 * which the specification does not require, so that a client can resume the stream. An event source
 * of a browser does that by itself (HTML, Server-sent events).
 */
@Path(Endpoint.SERVER_OR_MCP + Endpoint.SSE)
@RunOnVirtualThread
public final class SseResource {

  private static final Logger LOG = Logger.getLogger(SseResource.class);

  /** Time after which an event source retries when the store has failed. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Relay relay;
  private final RequestHandler handler;
  private final HttpConfig config;

  SseResource(Relay relay, RequestHandler handler, HttpConfig config) {
    this.relay = relay;
    this.handler = handler;
    this.config = config;
  }

  /** Opens a session or, with {@code Last-Event-ID}, resumes its stream. */
  @GET
  public Response get(@PathParam("server") String server, @Context UriInfo uri) {
    if (!config.sse()) {
      throw new NotFoundException();
    }
    return handler.handle(server, request -> follow(request, uri));
  }

  private Response follow(RequestInProgress request, UriInfo uri) {
    RequestChecks.checkGet(request.headers());
    String root = uri.getBaseUri().getPath().replaceAll("/$", "");
    Endpoint endpoint = new Endpoint(request.upstream(), true);
    Function<SessionId, String> messagesPath = id -> root + endpoint.messagesPath(id);
    Optional<EventId> last = lastEventId(request.headers());
    if (last.isEmpty()) {
      request.connect();
      return request.stream(relay.openShared(request.upstream(), request.caller(), messagesPath));
    }
    request.connectInTurn();
    try {
      return request.stream(
          relay.resumeShared(request.upstream(), request.caller(), last.get(), messagesPath));
    } catch (LogException.StoreUnavailable | SessionStoreException unavailable) {
      LOG.debugf("Store unavailable; the client retries: %s", unavailable.getMessage());
      return retry();
    }
  }

  private static Optional<EventId> lastEventId(HttpHeaders headers) {
    String sent = headers.getHeaderString(McpHeaders.LAST_EVENT_ID);
    if (sent == null || sent.isEmpty()) {
      return Optional.empty();
    }
    Optional<EventId> last = EventId.parseWithSession(sent).filter(LegacySseRelay::mayResume);
    if (last.isEmpty()) {
      RequestChecks.warnOfMalformedEventId("opening a new session");
    }
    return last;
  }

  /** An event source gives up after a 503. After the end of a stream it retries. */
  private static Response retry() {
    SseWriter frames = new SseWriter();
    frames.retry(RETRY);
    return Response.ok(frames.take(), MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        .build();
  }

  /** Refuses: a response without a body cannot follow a stream. */
  @HEAD
  public Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "GET").build();
  }
}

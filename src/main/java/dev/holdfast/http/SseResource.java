package dev.holdfast.http;

import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.log.LogException;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
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
import jakarta.ws.rs.core.UriBuilder;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * The stream of HTTP with SSE (MCP 2024-11-05, Transports) for one upstream. Its events have ids,
 * which the specification does not require, so that a client can resume the stream. An event source
 * of a browser does that by itself (HTML, Server-sent events).
 */
@Path(RequestHandler.SERVER_OR_MCP + "sse")
@RunOnVirtualThread
public final class SseResource {

  private static final Logger LOG = Logger.getLogger(SseResource.class);

  /** Time after which an event source retries when the store has failed. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final LegacySseRelay relay;
  private final RequestHandler handler;
  private final HttpConfig config;

  SseResource(LegacySseRelay relay, RequestHandler handler, HttpConfig config) {
    this.relay = relay;
    this.handler = handler;
    this.config = config;
  }

  /** Opens a session or, with {@code Last-Event-ID}, resumes its stream. */
  @GET
  public Response get(
      @PathParam("server") String server, @Context HttpHeaders headers, @Context UriInfo uri) {
    if (!config.sse()) {
      throw new NotFoundException();
    }
    return handler.handle(
        server,
        upstream -> {
          RequestChecks.checkGet(headers);
          Function<SessionId, String> messagesPath =
              session -> messagesPath(upstream, session, uri);
          Optional<EventId> last = lastEventId(headers);
          return last.isPresent()
              ? resume(upstream, last.get(), messagesPath)
              : follow(
                  () -> relay.open(upstream, handler.opener(), handler.principal(), messagesPath));
        });
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

  private Response resume(String upstream, EventId last, Function<SessionId, String> messagesPath) {
    SessionId id = last.session();
    if (id == null) {
      throw new RelayException.SessionNotFound();
    }
    try {
      Session session = relay.session(upstream, id, handler.principal());
      return handler.inSession(
          session, () -> follow(() -> relay.resume(session, last, messagesPath)));
    } catch (LogException.StoreUnavailable | SessionStoreException unavailable) {
      LOG.debugf("Store unavailable; the client retries: %s", unavailable.getMessage());
      return retry();
    }
  }

  /** An event source gives up after a 503. After the end of a stream it retries. */
  private static Response retry() {
    SseWriter frames = new SseWriter();
    frames.retry(RETRY);
    return Response.ok(frames.take(), MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        .build();
  }

  private Response follow(Supplier<Tail> tail) {
    return handler.withConnection(slot -> handler.stream(tail.get(), slot));
  }

  /** Returns the path of {@link SseMessagesResource} for a session. */
  private static String messagesPath(String upstream, SessionId session, UriInfo uri) {
    UriBuilder base = UriBuilder.fromPath(uri.getBaseUri().getPath());
    if (!upstream.equals(Session.DEFAULT_UPSTREAM)) {
      base.segment("servers", upstream);
    }
    return base.segment("messages", session.value()).build().getPath();
  }

  /** Refuses: a response without a body cannot follow a stream. */
  @HEAD
  public Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "GET").build();
  }
}

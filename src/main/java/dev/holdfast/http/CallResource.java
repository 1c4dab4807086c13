package dev.holdfast.http;

import dev.holdfast.call.Endpoint;
import dev.holdfast.held.CallReader;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.StreamHeaders;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamConfig;
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
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a call as a JSON stream that can be read (Durable Streams, sections 5.5 to 5.8).
 */
@Path(Endpoint.SERVER + Endpoint.CALLS + "{handle: [^/]+}/stream")
@RunOnVirtualThread
public final class CallResource {

  /** Time after which a long poll is answered without messages. */
  private static final Duration LONG_POLL = Duration.ofSeconds(20);

  private static final String NO_STORE = "no-store";

  /** A browser may keep a page, and asks each time if it is still allowed to use it. */
  private static final String REVALIDATE = "private, no-cache";

  private final CallReader calls;
  private final RequestHandler handler;
  private final StreamConfig config;
  private final InstantSource clock;

  CallResource(CallReader calls, RequestHandler handler, StreamConfig config, InstantSource clock) {
    this.calls = calls;
    this.handler = handler;
    this.config = config;
    this.clock = clock;
  }

  /** Reads messages, at once or when they come. */
  @GET
  public Response get(
      @PathParam("server") String server,
      @PathParam("handle") String handle,
      @Context UriInfo uri) {
    return handle(server, request -> read(request, handle, uri));
  }

  /** Tells the end of the stream. */
  @HEAD
  public Response head(@PathParam("server") String server, @PathParam("handle") String handle) {
    return handle(
        server,
        request ->
            described(Response.ok(), messages(calls.end(find(request, handle))), NO_STORE)
                .type(MediaType.APPLICATION_JSON_TYPE)
                .build());
  }

  private Response handle(String server, Function<RequestInProgress, Response> work) {
    if (!calls.isOn()) {
      throw new NotFoundException();
    }
    // For browsers (section 12.7). Pages of allowed origins read with CORS.
    return Response.fromResponse(handler.handle(server, work))
        .header("X-Content-Type-Options", "nosniff")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .build();
  }

  private StreamRef find(RequestInProgress request, String handle) {
    return calls
        .find(request.upstream(), request.caller().principal(), handle)
        .orElseThrow(CallResource::unknown);
  }

  private static RequestRejectedException unknown() {
    return new RequestRejectedException(404, "No such call");
  }

  private static CallReader.Page.Messages messages(CallReader.Page page) {
    return switch (page) {
      case CallReader.Page.Messages messages -> messages;
      case CallReader.Page.Unknown _ -> throw unknown();
      case CallReader.Page.Purged(@Nullable Position rest) ->
          throw new RequestRejectedException(
              410,
              "Messages after this offset are no longer kept"
                  + (rest == null ? "" : "; the rest begins at " + CallQuery.offset(rest)));
    };
  }

  private Response read(RequestInProgress request, String handle, UriInfo uri) {
    CallQuery query = CallQuery.of(uri.getQueryParameters());
    StreamRef stream = find(request, handle);
    if (query.live() != CallQuery.Live.NONE && calls.isDraining()) {
      throw new RelayException.Draining();
    }
    request.connect();
    return switch (query.live()) {
      case NONE -> catchUp(request, stream, query);
      case LONG_POLL -> poll(request, stream, query);
      case SSE -> events(request, stream, query);
    };
  }

  /** Reads without waiting. A stream of which only the end is wanted has no messages. */
  private CallReader.Page.Messages page(StreamRef stream, CallQuery query) {
    Position after = query.after();
    return messages(after == null ? calls.end(stream) : calls.read(stream, after));
  }

  private Response catchUp(RequestInProgress request, StreamRef stream, CallQuery query) {
    CallReader.Page.Messages page = page(stream, query);
    if (query.after() == null) {
      return described(json(request, page), page, NO_STORE).build();
    }
    String tag = tag(stream, query.after(), page);
    boolean isKnown = matches(request.headers().getHeaderString(HttpHeaders.IF_NONE_MATCH), tag);
    Response.ResponseBuilder response = isKnown ? Response.notModified() : json(request, page);
    return described(response, page, REVALIDATE).header(HttpHeaders.ETAG, tag).build();
  }

  private Response poll(RequestInProgress request, StreamRef stream, CallQuery query) {
    CallReader.Page.Messages page = page(stream, query);
    Position after = query.after() == null ? page.next() : query.after();
    if (page.isNothing()) {
      page = await(stream, after);
    }
    Response.ResponseBuilder response =
        page.messages().isEmpty()
            ? Response.noContent()
            : json(request, page).header(HttpHeaders.ETAG, tag(stream, after, page));
    return described(response, page, NO_STORE)
        .header(StreamHeaders.CURSOR, query.nextCursor(clock))
        .build();
  }

  private CallReader.Page.Messages await(StreamRef stream, Position after) {
    try (CallReader.Follower follower = calls.follow(stream)) {
      return messages(follower.next(after, LONG_POLL));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new RelayException.Draining();
    }
  }

  private Response events(RequestInProgress request, StreamRef stream, CallQuery query) {
    var first = new AtomicReference<CallReader.Page.@Nullable Messages>(page(stream, query));
    return request.events(
        new CallEvents(calls, stream, first, query.nextCursor(clock), config, clock));
  }

  private static Response.ResponseBuilder json(
      RequestInProgress request, CallReader.Page.Messages page) {
    return Response.fromResponse(request.json(CallEvents.array(page.messages()), 200));
  }

  private static Response.ResponseBuilder described(
      Response.ResponseBuilder response, CallReader.Page.Messages page, String caching) {
    response
        .header(HttpHeaders.CACHE_CONTROL, caching)
        .header(StreamHeaders.NEXT_OFFSET, CallQuery.offset(page.next()));
    if (page.upToDate()) {
      response.header(StreamHeaders.UP_TO_DATE, "true");
    }
    if (page.closed()) {
      response.header(StreamHeaders.CLOSED, "true");
    }
    return response;
  }

  private static String tag(StreamRef stream, Position after, CallReader.Page.Messages page) {
    return "\"%s:%s:%s%s\""
        .formatted(
            stream.name(),
            CallQuery.offset(after),
            CallQuery.offset(page.next()),
            page.closed() ? ":c" : "");
  }

  /** Compares as RFC 9110, section 13.1.2, says: a proxy may have weakened the tag. */
  private static boolean matches(@Nullable String known, String tag) {
    return known != null
        && (known.strip().equals("*")
            || List.of(known.split(",", -1)).stream()
                .map(String::strip)
                .anyMatch(each -> each.equals(tag) || each.equals("W/" + tag)));
  }
}

package dev.holdfast.http;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.sse.SseWriter;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriBuilder;
import jakarta.ws.rs.core.UriInfo;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * HTTP with SSE (MCP 2024-11-05, Transports) for the upstream that a resource names. Its events
 * have ids, which the specification does not ask for, so that a client that is cut off goes on
 * where it was: the event source of a browser does so by itself (HTML, Server-sent events).
 */
@Singleton
final class SseEndpoint {

  private static final Logger LOG = Logger.getLogger(SseEndpoint.class);

  private static final String MESSAGES = "messages";
  private static final String ACCEPTED = "{\"status\":\"accepted\"}";

  /** When a client that cannot go on just now is to try again. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private final Relay relay;
  private final LegacySseRelay sessions;
  private final RequestReader reader;
  private final ConnectionLimit connections;
  private final RequestLimit requests;
  private final RequestCount count;
  private final ClientAddresses addresses;

  SseEndpoint(
      Relay relay,
      LegacySseRelay sessions,
      LimitsConfig limits,
      BodyTimeout timeout,
      ConnectionLimit connections,
      RequestLimit requests,
      RequestCount count,
      ClientAddresses addresses) {
    this.relay = relay;
    this.sessions = sessions;
    this.reader = new RequestReader(limits.messageBytes().value(), timeout);
    this.connections = connections;
    this.requests = requests;
    this.count = count;
    this.addresses = addresses;
  }

  /** Opens a session, or goes on with one. */
  Response get(String upstream, HttpHeaders headers, UriInfo uri) {
    Function<SessionId, String> endpoint = session -> endpoint(upstream, session, uri);
    return requests.within(
        upstream,
        () -> {
          try {
            relay.requireUpstream(upstream);
            reader.checkGet(headers);
            Optional<EventId> last = last(headers);
            return last.isPresent()
                ? resume(upstream, last.get(), endpoint)
                : follow(() -> sessions.open(upstream, endpoint));
          } catch (RuntimeException failure) {
            return ErrorResponses.of(failure, null);
          }
        });
  }

  private static Optional<EventId> last(HttpHeaders headers) {
    String sent = headers.getHeaderString(McpHeaders.LAST_EVENT_ID);
    if (sent == null || sent.isEmpty()) {
      return Optional.empty();
    }
    Optional<EventId> last = EventId.parseWithSession(sent).filter(LegacySseRelay::mayResume);
    if (last.isEmpty()) {
      LOG.warn("A malformed Last-Event-ID was sent; it gets a new session");
    }
    return last;
  }

  private Response resume(String upstream, EventId last, Function<SessionId, String> endpoint) {
    SessionId id = last.session();
    if (id == null) {
      throw new RelayException.SessionNotFound();
    }
    try {
      Session session = sessions.session(upstream, id);
      return count.counted(session, () -> follow(() -> sessions.resume(session, last, endpoint)));
    } catch (StoreUnavailableException | SessionStoreException away) {
      LOG.debugf("an event source is to come again: %s", away.getMessage());
      return again();
    }
  }

  /**
   * Not a 503: that would be the end for an event source, which comes again after a stream only.
   */
  private static Response again() {
    SseWriter frames = new SseWriter();
    frames.retry(AGAIN);
    return Response.ok(frames.take(), MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        .build();
  }

  private Response follow(Supplier<Tail> tail) {
    return connections.within(addresses.current(), slot -> McpEndpoint.follow(tail.get(), slot));
  }

  private static String endpoint(String upstream, SessionId session, UriInfo uri) {
    UriBuilder base = UriBuilder.fromPath(uri.getBaseUri().getPath());
    if (!upstream.equals(Session.DEFAULT_UPSTREAM)) {
      base.segment("servers", upstream);
    }
    return base.segment(MESSAGES, session.value()).build().getPath();
  }

  /** Takes messages; what is to be said to them comes on the stream. */
  Response post(String upstream, String session, HttpHeaders headers, InputStream content) {
    return requests.within(
        upstream,
        () -> {
          RequestId id = null;
          try {
            relay.requireUpstream(upstream);
            reader.checkContent(headers);
            Body body = Envelopes.read(reader.read(headers, content));
            id = idOf(body);
            reader.checkVersion(headers);
            Session found = sessions.session(upstream, sessionId(session), body);
            return count.counted(found, () -> accept(found, body));
          } catch (RuntimeException failure) {
            return ErrorResponses.of(failure, id);
          }
        });
  }

  private static @Nullable RequestId idOf(Body body) {
    return body instanceof Body.Single(Message.Request request) ? request.id() : null;
  }

  private Response accept(Session session, Body body) {
    BodyRules.check(session.version(), body);
    if (BodyRules.asks(body)) {
      sessions.request(session, body);
    } else {
      relay.send(session, body);
    }
    return Response.accepted(ACCEPTED).type(MediaType.APPLICATION_JSON_TYPE).build();
  }

  /** Ends a session at once, for who knows that it is done; others let it expire. */
  Response delete(String upstream, String session) {
    return requests.within(
        upstream,
        () -> {
          try {
            relay.requireUpstream(upstream);
            relay.end(sessions.session(upstream, sessionId(session)));
            return Response.noContent().build();
          } catch (RuntimeException failure) {
            return ErrorResponses.of(failure, null);
          }
        });
  }

  Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "GET").build();
  }

  private static SessionId sessionId(String session) {
    return SessionId.parse(session).orElseThrow(RelayException.SessionNotFound::new);
  }
}

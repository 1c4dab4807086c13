package dev.holdfast.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.session.InitializeReply;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.sse.SseWriter;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Streamable HTTP (MCP 2025-03-26 to 2025-11-25, Transports) for the upstream that a resource
 * names.
 */
@Singleton
final class McpEndpoint {

  private static final Logger LOG = Logger.getLogger(McpEndpoint.class);

  private final Relay relay;
  private final RequestReader reader;
  private final ConnectionLimit connections;
  private final RequestLimit requests;
  private final RequestCount count;
  private final ClientAddresses addresses;

  McpEndpoint(
      Relay relay,
      LimitsConfig limits,
      BodyTimeout timeout,
      ConnectionLimit connections,
      RequestLimit requests,
      RequestCount count,
      ClientAddresses addresses) {
    this.relay = relay;
    this.reader = new RequestReader(limits.messageBytes().value(), timeout);
    this.connections = connections;
    this.requests = requests;
    this.count = count;
    this.addresses = addresses;
  }

  Response post(String upstream, HttpHeaders headers, InputStream content) {
    return requests.within(upstream, () -> take(upstream, headers, content));
  }

  private Response take(String upstream, HttpHeaders headers, InputStream content) {
    RequestId id = null;
    try {
      relay.requireUpstream(upstream);
      reader.checkPost(headers);
      Body body = Envelopes.read(reader.read(headers, content));
      if (body instanceof Body.Single(Message.Request request)) {
        id = request.id();
        if (request.method().equals(Methods.INITIALIZE)) {
          return initialized(relay.initialize(upstream, request));
        }
      }
      reader.checkVersion(headers);
      Session session = relay.session(upstream, sessionId(headers), body);
      return count.counted(session, () -> answer(session, body));
    } catch (RuntimeException failure) {
      return ErrorResponses.of(failure, id);
    }
  }

  private Response initialized(InitializeReply reply) {
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
      relay.count(session, addresses.current(), false);
      response.header(McpHeaders.SESSION_ID, session.id().value());
    }
    return response.build();
  }

  private Response answer(Session session, Body body) {
    BodyRules.check(session.version(), body);
    if (!BodyRules.asks(body)) {
      relay.send(session, body);
      return Response.accepted().build();
    }
    // Taken before the upstream is asked: a call that was made must also be answered.
    return connections.within(
        addresses.current(),
        slot ->
            switch (relay.request(session, body)) {
              case Reply.Json json -> {
                slot.giveBack();
                yield Response.ok(json.document(), MediaType.APPLICATION_JSON_TYPE).build();
              }
              case Reply.Stream stream -> follow(stream.tail(), slot);
            });
  }

  Response get(String upstream, HttpHeaders headers) {
    return requests.within(
        upstream,
        () -> {
          try {
            relay.requireUpstream(upstream);
            reader.checkGet(headers);
            reader.checkVersion(headers);
            Session session = relay.session(upstream, sessionId(headers));
            String last = headers.getHeaderString(McpHeaders.LAST_EVENT_ID);
            return count.counted(session, () -> follow(session, last));
          } catch (RuntimeException failure) {
            return ErrorResponses.of(failure, null);
          }
        });
  }

  private Response follow(Session session, @Nullable String lastEventId) {
    return connections.within(
        addresses.current(),
        slot -> {
          Optional<Tail> tail = tail(session, lastEventId);
          if (tail.isEmpty()) {
            slot.giveBack();
            // What stops an event source (HTML, Server-sent events). The TypeScript SDK takes an
            // error in JSON-RPC for no response, and would ask for the rest of the stream forever.
            return Response.noContent().build();
          }
          return follow(tail.get(), slot);
        });
  }

  /** The stream that is asked for; empty when nothing of it is to come. */
  private Optional<Tail> tail(Session session, @Nullable String lastEventId) {
    if (lastEventId == null || lastEventId.isEmpty()) {
      return Optional.of(relay.listen(session));
    }
    Optional<EventId> last = EventId.parse(lastEventId);
    if (last.isEmpty()) {
      LOG.warnf("session=%s sent a malformed Last-Event-ID; replaying all", session.id());
      return Optional.of(relay.listenFromStart(session));
    }
    return relay.resume(session, last.get());
  }

  Response head() {
    return Response.status(405).header(HttpHeaders.ALLOW, "POST, GET, DELETE").build();
  }

  Response delete(String upstream, HttpHeaders headers) {
    return requests.within(
        upstream,
        () -> {
          try {
            relay.requireUpstream(upstream);
            relay.end(relay.session(upstream, sessionId(headers)));
            return Response.noContent().build();
          } catch (RuntimeException failure) {
            return ErrorResponses.of(failure, null);
          }
        });
  }

  static Response follow(Tail tail, ConnectionLimit.Slot slot) {
    return Response.ok(new EventStream(tail, slot), MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        .header(McpHeaders.ACCEL_BUFFERING, "no")
        .build();
  }

  private static SessionId sessionId(HttpHeaders headers) {
    String id = headers.getHeaderString(McpHeaders.SESSION_ID);
    if (id == null) {
      throw new Rejection(
          400, JsonRpcErrorCode.SERVER_ERROR, "Bad Request: Mcp-Session-Id header is required");
    }
    return SessionId.parse(id).orElseThrow(RelayException.SessionNotFound::new);
  }
}

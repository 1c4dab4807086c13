package dev.holdfast.http;

import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientToken;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.http.limit.Turns;
import dev.holdfast.http.stream.SocketBody;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.upstream.Profile;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request to an upstream, with what it takes until it is answered: a place among the requests,
 * the bytes of its body, and a connection. For one thread.
 */
final class RequestInProgress implements AutoCloseable {

  private final RequestSteps steps;
  private final HttpHeaders headers;
  private final String upstream;
  private final RequestLimit.Place place;
  private final Profile profile;
  private final @Nullable ClientToken token;
  private final Caller caller;
  private final Client client;

  private ClientBytes.@Nullable Lease bytes;
  private ConnectionLimit.@Nullable Slot connection;
  private Turns.@Nullable Turn turn;
  private @Nullable RequestId id;

  /** True if the client waits for events and for nothing else: without a body, or to subscribe. */
  private boolean waits = true;

  /**
   * Admits a request: takes its place, and finds out who sends it.
   *
   * @throws RuntimeException that becomes an error response
   */
  RequestInProgress(RequestSteps steps, String upstream, HttpHeaders headers) {
    String address = steps.address().current();
    Client network = Client.at(address);
    this.steps = steps;
    this.headers = headers;
    this.upstream = upstream;
    place = steps.limits().requests().enter(upstream, network);
    try {
      profile =
          steps
              .upstreams()
              .find(upstream)
              .orElseThrow(RelayException.UnknownUpstream::new)
              .profile();
      String agent = headers.getHeaderString(HttpHeaders.USER_AGENT);
      Caller known = steps.authentication().caller(upstream, profile.needsClientToken());
      token = known.token();
      caller =
          known
              .sending(known.scopes(), profile.takesClientToken() ? token : null, known.headers())
              .at(address, network.name(), agent == null ? "" : agent);
      client = Client.of(caller);
      place.belongTo(client);
    } catch (Throwable refused) {
      place.close();
      throw refused;
    }
  }

  String upstream() {
    return upstream;
  }

  HttpHeaders headers() {
    return headers;
  }

  /** The client. It has its token only if the upstream needs it. */
  Caller caller() {
    return caller;
  }

  /** The id that an error response echoes; null before the body is read, and without a request. */
  @Nullable RequestId id() {
    return id;
  }

  /** Reads the body. The request holds its bytes until its end. */
  Body read(InputStream content) {
    ClientBytes.Lease lease = steps.reader().bytes().open(client);
    bytes = lease;
    Body body = steps.reader().read(headers.getLength(), content, lease);
    TraceListener traces = steps.traces();
    if (traces != null) {
      traces.received(body);
    }
    waits = false;
    if (body instanceof Body.Single(Message.Request request)) {
      id = request.id();
      waits = request.method().equals(Methods.SUBSCRIPTIONS_LISTEN);
    }
    return RequestChecks.withSessions(body);
  }

  /**
   * Hands the body to the relay. Its bytes are given back when nobody holds them any more.
   *
   * @throws RequestRejectedException if the headers that go with it are too large
   */
  Reply take(Conversation conversation, Body body) {
    Caller sender = caller.sending(scopes(), caller.token(), forwarded(names(conversation)));
    Exchange exchange = new Exchange(upstream, conversation, sender, body, SocketBody.hasLeft());
    return steps.doors().audit().take(exchange, () -> held(exchange));
  }

  private Reply held(Exchange exchange) {
    return steps.doors().held().take(exchange, () -> relayed(exchange));
  }

  private Reply relayed(Exchange exchange) {
    ClientBytes.Lease lease = Objects.requireNonNull(bytes);
    RequestSteps.Doors doors = steps.doors();
    Reply reply =
        switch (exchange.conversation()) {
          case Conversation.Opening(Message.Request initialize) ->
              new Reply.Initialization(doors.relay().open(upstream, initialize, exchange.caller()));
          case Conversation.InSession named -> doors.relay().take(named, exchange, lease::release);
          case Conversation.Single(var header) ->
              doors.stateless().take(exchange, header, lease::release);
        };
    if (reply instanceof Reply.Stream
        || (exchange.conversation() instanceof Conversation.Sse
            && !exchange.body().requestIds().isEmpty())) {
      lease.handOver();
    }
    return reply;
  }

  /** Names of the headers for the server. One without sessions wants those of arguments, too. */
  private Set<String> names(Conversation conversation) {
    if (!(conversation instanceof Conversation.Single)) {
      return profile.forwardedHeaders();
    }
    Set<String> names = new HashSet<>(profile.forwardedHeaders());
    headers.getRequestHeaders().keySet().stream()
        .map(name -> name.toLowerCase(Locale.ROOT))
        .filter(name -> name.startsWith(McpHeaders.PARAMETER))
        .forEach(names::add);
    return names;
  }

  /**
   * Resumes a stream, after {@link #connectInTurn}.
   *
   * @param session null for a client without one: then the event names that of the gateway
   */
  Response resume(@Nullable SessionId session, EventId last) {
    RequestSteps.Doors doors = steps.doors();
    Optional<Tail> rest =
        session == null
            ? doors.stateless().resume(upstream, caller, last)
            : doors.relay().resume(upstream, session, caller, last);
    // A 204 stops an event source (HTML, Server-sent events). The TypeScript SDK does not stop at
    // a JSON-RPC error: it would ask for the rest of the stream forever.
    return rest.map(tail -> stream(doors.audit().resumed(tail, caller, upstream, session)))
        .orElseGet(() -> Response.noContent().build());
  }

  private Set<String> scopes() {
    if (profile.namedScopes().isEmpty()) {
      return Set.of();
    }
    Set<String> scopes = new HashSet<>(profile.namedScopes());
    scopes.retainAll(caller.scopes());
    return scopes;
  }

  private ForwardedHeaders forwarded(Set<String> names) {
    ForwardedHeaders forwarded = ForwardedHeaders.of(names, headers::getHeaderString);
    if (forwarded.bytes() > ForwardedHeaders.MAX_BYTES) {
      throw new RequestRejectedException(
          431,
          "The headers %s are larger than %d bytes together"
              .formatted(String.join(", ", forwarded.names()), ForwardedHeaders.MAX_BYTES));
    }
    if (!forwarded.areSendable()) {
      throw new RequestRejectedException(400, "A header has a control character");
    }
    return forwarded;
  }

  /** Takes a connection. Nothing may fail for want of one after the upstream has the request. */
  void connect() {
    connection = steps.limits().connections().acquire(client);
  }

  /** Takes a connection for a stream that was opened before, and waits for the turn to find it. */
  void connectInTurn() {
    connect();
    turn = steps.limits().turns().await();
  }

  /** A response that follows a stream, after {@link #connect}. */
  Response stream(Tail tail) {
    Response response =
        SocketBody.stream(
            tail,
            slot(),
            steps.authentication().credentials(upstream, token, caller.network()),
            waits);
    connection = null;
    return response;
  }

  /** A response that a loop writes as events, after {@link #connect}. */
  Response events(Consumer<ClientConnection> loop) {
    Response response = SocketBody.events(loop, slot());
    connection = null;
    return response;
  }

  /** A response with a JSON document, after {@link #connect}. */
  Response json(byte[] document, int status) {
    Response response = SocketBody.json(document, status, slot(), steps.streams().writeTimeout());
    connection = null;
    return response;
  }

  private ConnectionLimit.Slot slot() {
    return Objects.requireNonNull(connection);
  }

  /** Gives back what the response has not taken over. */
  @Override
  public void close() {
    if (turn != null) {
      turn.close();
    }
    if (connection != null) {
      connection.release();
    }
    if (bytes != null) {
      bytes.close();
    }
    place.close();
  }
}

package dev.holdfast.http;

import dev.holdfast.auth.ClientTokens;
import dev.holdfast.auth.Principal;
import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.http.socket.ClientAddress;
import dev.holdfast.http.stream.SocketBody;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ClientToken;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.Opener;
import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Profile;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The common steps of all requests to an upstream: limits, the check of the upstream's name, the
 * count of requests per session, and error responses.
 *
 * @param traces null while traces are off
 */
@Singleton
record RequestHandler(
    Relay relay,
    RequestLimit requests,
    ConnectionLimit connections,
    ClientBytes bodies,
    BodyReader reader,
    StreamConfig streams,
    ClientAddress address,
    Authentication authentication,
    ClientTokens clientTokens,
    ContainerRequestContext current,
    @Nullable TraceListener traces) {

  private static final String SERVERS = "servers/";

  /** The path of a named upstream, or nothing for the default one. */
  static final String SERVER = "/{server: (?:servers/[^/]+/)?}";

  /** The same with an alias, for clients that append {@code /sse} to the URL of a server. */
  static final String SERVER_OR_MCP = "/{server: (?:servers/[^/]+/|mcp/)?}";

  /**
   * Runs a request if the limits allow it. A failure becomes an error response.
   *
   * @param server the part of the path that {@link #SERVER} matches
   * @param work gets the name of the upstream
   */
  Response handle(String server, Function<String, Response> work) {
    String upstream =
        server.startsWith(SERVERS)
            ? server.substring(SERVERS.length(), server.length() - 1)
            : Session.DEFAULT_UPSTREAM;
    return traces == null
        ? handleUntraced(upstream, work)
        : traces.request(
            upstream,
            current.getMethod(),
            current::getHeaderString,
            () -> handleUntraced(upstream, work),
            Response::getStatus);
  }

  private Response handleUntraced(String upstream, Function<String, Response> work) {
    return ErrorResponses.onFailure(
        null,
        () ->
            requests.within(
                upstream,
                Client.at(address.current()),
                place ->
                    authentication
                        .refusal(upstream, relay.profile(upstream).needsClientToken())
                        .orElseGet(() -> {
                          place.belongTo(client());
                          return work.apply(upstream);
                        })));
  }

  /**
   * Reads the body of a request and runs its work.
   *
   * @param work gets the body and its bytes, which are given back at its end unless it hands them
   *     over
   */
  Response withBody(
      HttpHeaders headers,
      InputStream content,
      BiFunction<Body, ClientBytes.Lease, Response> work) {
    try (ClientBytes.Lease lease = bodies.open(client())) {
      Body body = reader.read(headers.getLength(), content, lease);
      if (traces != null) {
        traces.received(body);
      }
      return ErrorResponses.onFailure(RequestChecks.idOf(body), () -> work.apply(body, lease));
    }
  }

  /** Notes that the current request is one of a session, whose server may need its token. */
  void found(Session session) {
    ClientToken token = token(relay.profile(session.upstream()));
    if (token != null) {
      clientTokens.shown(session.id().value(), token);
    }
  }

  private @Nullable ClientToken token(Profile profile) {
    return profile.needsClientToken() ? authentication.token() : null;
  }

  /** Ends a session. */
  Response end(Session session) {
    found(session);
    relay.sessions().end(session);
    clientTokens.forget(session.id().value());
    return Response.noContent().build();
  }

  /** Runs a request and counts it in its session. An exception counts as an error. */
  Response inSession(Session session, Supplier<Response> work) {
    found(session);
    if (traces != null) {
      traces.found(session);
    }
    boolean failed = true;
    try {
      Response response = work.get();
      failed = false;
      return response;
    } finally {
      count(session, failed);
    }
  }

  /** The client whose share of the limits the request takes. */
  private Client client() {
    return Client.of(principal(), address.current());
  }

  /** The client, as one that opens a session at an upstream. Throws as {@link #sender}. */
  Opener opener(String upstream) {
    return opener().with(sender(upstream));
  }

  /** The client, as one that opens a session and initializes it later. */
  Opener opener() {
    String at = address.current();
    String agent = current.getHeaderString(HttpHeaders.USER_AGENT);
    return new Opener(
        client().name(), Client.at(at).name(), agent == null ? "" : agent, Sender.UNKNOWN);
  }

  /**
   * Returns who sends the request to an upstream. Throws {@link RequestRejectedException} if the
   * headers that go with it are too large.
   */
  Sender sender(String upstream) {
    Profile profile = relay.profile(upstream);
    Principal principal = authentication.principal();
    Set<String> scopes = Set.of();
    if (!profile.namedScopes().isEmpty()) {
      scopes = new HashSet<>(profile.namedScopes());
      scopes.retainAll(principal.scopes());
    }
    return principal.id().sender(scopes, forwarded(profile)).with(token(profile));
  }

  private ForwardedHeaders forwarded(Profile profile) {
    ForwardedHeaders forwarded =
        ForwardedHeaders.of(profile.forwardedHeaders(), current::getHeaderString);
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

  /** Who sends the request. Sessions belong to their principal. */
  PrincipalId principal() {
    return authentication.principal().id();
  }

  void count(Session session, boolean failed) {
    relay.sessions().count(session, address.current(), failed);
  }

  /** Returns a response that follows a stream. */
  Response stream(Tail tail, ConnectionLimit.Slot slot) {
    return SocketBody.stream(tail, slot, authentication.credentials());
  }

  /** Returns a response with a JSON document. */
  Response answer(byte[] document, ConnectionLimit.Slot slot) {
    return SocketBody.json(document, slot, streams.writeTimeout());
  }

  /**
   * Runs a request whose response may follow a stream. The work releases the slot unless it fails.
   *
   * @param work gets the slot of the connection
   */
  Response withConnection(Function<ConnectionLimit.Slot, Response> work) {
    ConnectionLimit.Slot slot = connections.acquire(client());
    try {
      return work.apply(slot);
    } catch (RuntimeException failure) {
      slot.release();
      throw failure;
    }
  }
}

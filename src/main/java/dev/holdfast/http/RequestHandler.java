package dev.holdfast.http;

import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.http.limit.ClientNetwork;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.Session;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The common steps of all requests to an upstream: limits, the check of the upstream's name, the
 * count of requests per session, and error responses.
 */
@Singleton
final class RequestHandler {

  private final Relay relay;
  private final RequestLimit requests;
  private final ConnectionLimit connections;
  private final ClientAddressResolver client;

  RequestHandler(
      Relay relay,
      RequestLimit requests,
      ConnectionLimit connections,
      ClientAddressResolver client) {
    this.relay = relay;
    this.requests = requests;
    this.connections = connections;
    this.client = client;
  }

  /** Runs a request if the limits allow it. A failure becomes an error response. */
  Response handle(String upstream, Supplier<Response> work) {
    return ErrorResponses.onFailure(
        null,
        () ->
            requests.within(
                upstream,
                () -> {
                  relay.requireUpstream(upstream);
                  return work.get();
                }));
  }

  /** Runs a request and counts it in its session. An exception counts as an error. */
  Response inSession(Session session, Supplier<Response> work) {
    boolean failed = true;
    try {
      Response response = work.get();
      failed = false;
      return response;
    } finally {
      count(session, failed);
    }
  }

  /** The network of the client's address, which opens its sessions. */
  String clientNetwork() {
    return ClientNetwork.of(client.current()).name();
  }

  void count(Session session, boolean failed) {
    relay.count(session, client.current(), failed);
  }

  /**
   * Runs a request whose response may follow a stream. The work releases the slot unless it fails.
   *
   * @param work gets the slot of the connection
   */
  Response withConnection(Function<ConnectionLimit.Slot, Response> work) {
    ConnectionLimit.Slot slot = connections.acquire(client.current());
    try {
      return work.apply(slot);
    } catch (RuntimeException failure) {
      slot.release();
      throw failure;
    }
  }
}

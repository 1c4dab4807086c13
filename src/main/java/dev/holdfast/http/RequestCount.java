package dev.holdfast.http;

import dev.holdfast.relay.Relay;
import dev.holdfast.session.Session;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.function.Supplier;

/** Counts the requests of each session. */
@Singleton
final class RequestCount {

  private final Relay relay;
  private final ClientAddresses addresses;

  RequestCount(Relay relay, ClientAddresses addresses) {
    this.relay = relay;
    this.addresses = addresses;
  }

  /** Counts a request in its session: an error is what is answered with a status of one. */
  Response counted(Session session, Supplier<Response> work) {
    boolean failed = true;
    try {
      Response response = work.get();
      failed = false;
      return response;
    } finally {
      relay.count(session, addresses.current(), failed);
    }
  }
}

package dev.holdfast.http;

import dev.holdfast.era.north.StatelessRelay;
import dev.holdfast.held.HeldCalls;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.http.limit.Turns;
import dev.holdfast.http.socket.ClientAddress;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.upstream.Upstreams;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;

/**
 * The steps that every request passes: limits, the identity of its sender, its body, the relay.
 *
 * @param traces null while traces are off
 */
@Singleton
record RequestSteps(
    Limits limits,
    ClientAddress address,
    Upstreams upstreams,
    Authentication authentication,
    BodyReader reader,
    Doors doors,
    StreamConfig streams,
    @Nullable TraceListener traces) {

  /** The relay, for clients with and without a session, and what stands before both. */
  @Singleton
  record Doors(Relay relay, StatelessRelay stateless, HeldCalls held, CallAudit audit) {}

  /** Limits on the numbers of requests, of connections, and of looks for a stream at a time. */
  @Singleton
  record Limits(RequestLimit requests, ConnectionLimit connections, Turns turns) {}
}

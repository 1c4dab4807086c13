package dev.holdfast.http;

import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.http.socket.ClientAddress;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;

/**
 * The steps that every request passes: limits, the identity of its sender, its body, the relay.
 *
 * @param traces null while traces are off
 */
@Singleton
record RequestSteps(
    RequestLimit requests,
    ClientAddress address,
    Authentication authentication,
    BodyReader reader,
    ConnectionLimit connections,
    Relay relay,
    StreamConfig streams,
    @Nullable TraceListener traces) {}

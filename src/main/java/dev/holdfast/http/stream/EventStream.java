package dev.holdfast.http.stream;

import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.socket.ClientSocket;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.timer.TimeLimit;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.time.Instant;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;
import org.jspecify.annotations.Nullable;

/**
 * A response body that follows a stream.
 *
 * @param tail not yet running
 * @param slot released when the connection ends
 * @param until when the client's credentials expire: it shall come back with others; null for never
 */
public record EventStream(Tail tail, ConnectionLimit.Slot slot, @Nullable Instant until)
    implements SocketBody {

  /** Returns a response with this body, which proxies neither cache nor buffer. */
  public Response response() {
    return Response.ok(this, MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        // For nginx.
        .header("X-Accel-Buffering", "no")
        .build();
  }

  /** Lets the tail write frame by frame, and end when the credentials expire. */
  @Override
  public void write(ServerRequestContext context) {
    TimeLimit expiry =
        until == null
            ? null
            : TimeLimit.start(Duration.between(Instant.now(), until), tail::expire);
    tail.run(
        new HttpClientConnection(
            context.serverResponse(), ClientSocket.of(context)::reset, slot, expiry));
  }
}

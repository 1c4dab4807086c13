package dev.holdfast.http.stream;

import dev.holdfast.http.socket.ClientSocket;
import dev.holdfast.timer.TimeLimit;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.ext.Provider;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;
import org.jspecify.annotations.Nullable;

/** Writes {@link EventStream} bodies: a running tail writes them frame by frame. */
@Provider
@Produces(MediaType.SERVER_SENT_EVENTS)
public final class EventStreamWriter extends SocketBodyWriter<EventStream> {

  /** Creates the writer. */
  public EventStreamWriter() {
    super(EventStream.class);
  }

  @Override
  public void writeResponse(EventStream stream, Type genericType, ServerRequestContext context) {
    stream
        .tail()
        .run(
            new HttpClientConnection(
                context.serverResponse(),
                ClientSocket.of(context)::reset,
                stream.slot(),
                expiry(stream)));
  }

  /** Lets the client come back with other credentials in time. */
  private static @Nullable TimeLimit expiry(EventStream stream) {
    return stream.until() == null
        ? null
        : TimeLimit.start(Duration.between(Instant.now(), stream.until()), stream.tail()::expire);
  }
}

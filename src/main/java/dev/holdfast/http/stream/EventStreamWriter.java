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

/**
 * Writes {@link EventStream} bodies: a running tail writes them frame by frame.
 *
 * <p>The tail of a stream that continues gets a virtual thread of its own. While idle, that thread
 * holds a few stack frames instead of those of the whole request.
 */
@Provider
@Produces(MediaType.SERVER_SENT_EVENTS)
public final class EventStreamWriter extends SocketBodyWriter<EventStream> {

  /** Creates the writer. */
  public EventStreamWriter() {
    super(EventStream.class);
  }

  @Override
  public void writeResponse(EventStream stream, Type genericType, ServerRequestContext context) {
    HttpClientConnection connection =
        new HttpClientConnection(
            context.serverResponse(), ClientSocket.of(context)::reset, stream.slot());
    if (stream.ended()) {
      stream.tail().run(connection);
    } else {
      Thread.ofVirtual()
          .name("tail " + stream.tail().stream())
          .inheritInheritableThreadLocals(false)
          .start(() -> follow(stream, connection));
    }
  }

  private static void follow(EventStream stream, HttpClientConnection connection) {
    if (stream.until() == null) {
      stream.tail().run(connection);
      return;
    }
    Duration left = Duration.between(Instant.now(), stream.until());
    try (TimeLimit _ = TimeLimit.start(left, stream.tail()::move)) {
      stream.tail().run(connection);
    }
  }
}

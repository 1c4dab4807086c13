package dev.holdfast.http.stream;

import dev.holdfast.http.socket.ClientSocket;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.ext.Provider;
import java.lang.reflect.Type;
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
          .start(() -> stream.tail().run(connection));
    }
  }
}

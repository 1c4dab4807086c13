package dev.holdfast.http.stream;

import dev.holdfast.http.socket.ClientSocket;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.Provider;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveResourceInfo;
import org.jboss.resteasy.reactive.server.spi.ServerMessageBodyWriter;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/**
 * Writes {@link EventStream} bodies: a running tail writes them frame by frame.
 *
 * <p>The tail of a stream that continues gets a virtual thread of its own. While idle, that thread
 * holds a few stack frames instead of those of the whole request.
 */
@Provider
@Produces(MediaType.SERVER_SENT_EVENTS)
public final class EventStreamWriter implements ServerMessageBodyWriter<EventStream> {

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
    return EventStream.class.isAssignableFrom(type);
  }

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
    return EventStream.class.isAssignableFrom(type);
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

  /** Never called: this server calls {@link #writeResponse} instead. */
  @Override
  public void writeTo(
      EventStream stream,
      Class<?> type,
      Type genericType,
      Annotation[] annotations,
      MediaType mediaType,
      MultivaluedMap<String, Object> headers,
      OutputStream body) {
    throw new UnsupportedOperationException("an event stream is written frame by frame");
  }
}

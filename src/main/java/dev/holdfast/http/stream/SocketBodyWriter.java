package dev.holdfast.http.stream;

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

/** Lets bodies write themselves to the socket, and not to a stream of the framework. */
@Provider
@Produces({MediaType.APPLICATION_JSON, MediaType.SERVER_SENT_EVENTS})
public final class SocketBodyWriter implements ServerMessageBodyWriter<SocketBody> {

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
    return SocketBody.class.isAssignableFrom(type);
  }

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
    return SocketBody.class.isAssignableFrom(type);
  }

  @Override
  public void writeResponse(SocketBody body, Type genericType, ServerRequestContext context) {
    body.write(context);
  }

  /** Never called: this server calls {@link #writeResponse} instead. */
  @Override
  public void writeTo(
      SocketBody body,
      Class<?> type,
      Type genericType,
      Annotation[] annotations,
      MediaType mediaType,
      MultivaluedMap<String, Object> headers,
      OutputStream out) {
    throw new UnsupportedOperationException("the body is written to the socket");
  }
}

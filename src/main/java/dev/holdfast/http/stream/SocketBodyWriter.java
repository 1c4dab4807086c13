package dev.holdfast.http.stream;

import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveResourceInfo;
import org.jboss.resteasy.reactive.server.spi.ServerMessageBodyWriter;

/** Writes bodies of one type to the socket, and not to a stream of the framework. */
abstract class SocketBodyWriter<T> implements ServerMessageBodyWriter<T> {

  private final Class<T> body;

  SocketBodyWriter(Class<T> body) {
    this.body = body;
  }

  @Override
  public final boolean isWriteable(
      Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
    return body.isAssignableFrom(type);
  }

  @Override
  public final boolean isWriteable(
      Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
    return body.isAssignableFrom(type);
  }

  /** Never called: this server calls {@link #writeResponse} instead. */
  @Override
  public final void writeTo(
      T response,
      Class<?> type,
      Type genericType,
      Annotation[] annotations,
      MediaType mediaType,
      MultivaluedMap<String, Object> headers,
      OutputStream out) {
    throw new UnsupportedOperationException("the body is written to the socket");
  }
}

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

/** Writes {@link JsonAnswer} bodies. */
@Provider
@Produces(MediaType.APPLICATION_JSON)
public final class JsonAnswerWriter implements ServerMessageBodyWriter<JsonAnswer> {

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
    return JsonAnswer.class.isAssignableFrom(type);
  }

  @Override
  public boolean isWriteable(
      Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
    return JsonAnswer.class.isAssignableFrom(type);
  }

  @Override
  public void writeResponse(JsonAnswer answer, Type genericType, ServerRequestContext context) {
    ClientSocket.of(context)
        .end(
            answer.document(),
            answer.patience(),
            () -> {
              answer.slot().giveBack();
              answer.slot().release();
            });
  }

  /** Never called: this server calls {@link #writeResponse} instead. */
  @Override
  public void writeTo(
      JsonAnswer answer,
      Class<?> type,
      Type genericType,
      Annotation[] annotations,
      MediaType mediaType,
      MultivaluedMap<String, Object> headers,
      OutputStream body) {
    throw new UnsupportedOperationException("the answer is written to the socket");
  }
}

package dev.holdfast.http.stream;

import dev.holdfast.http.socket.ClientSocket;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.ext.Provider;
import java.lang.reflect.Type;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** Writes {@link JsonAnswer} bodies. */
@Provider
@Produces(MediaType.APPLICATION_JSON)
public final class JsonAnswerWriter extends SocketBodyWriter<JsonAnswer> {

  /** Creates the writer. */
  public JsonAnswerWriter() {
    super(JsonAnswer.class);
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
}

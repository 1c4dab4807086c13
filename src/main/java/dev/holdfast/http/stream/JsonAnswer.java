package dev.holdfast.http.stream;

import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.socket.ClientSocket;
import java.time.Duration;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/**
 * A JSON response body. Its slot holds its bytes until the client has taken them.
 *
 * @param slot released when the client has taken the body, or is gone
 * @param patience time for which the client may take nothing
 */
public record JsonAnswer(byte[] document, ConnectionLimit.Slot slot, Duration patience)
    implements SocketBody {

  @Override
  public void write(ServerRequestContext context) {
    ClientSocket.of(context)
        .end(
            document,
            patience,
            () -> {
              slot.giveBack();
              slot.release();
            });
  }
}

package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;

/**
 * A connection on which the server publishes to a channel of {@link Nchan}. It doesn't wait for the
 * answer to a request before it sends the next: nginx handles them in their order.
 */
final class NchanPublisher implements AutoCloseable {

  private final Socket socket;
  private final String head;

  /**
   * @param location the URL that takes messages
   * @param session the MCP session whose channel it is
   */
  NchanPublisher(URI location, String session) throws IOException {
    socket = new Socket(location.getHost(), location.getPort());
    socket.setTcpNoDelay(true);
    head =
        "POST %s HTTP/1.1\r\nHost: %s\r\nMcp-Session-Id: %s\r\nContent-Length: "
            .formatted(location.getPath(), location.getAuthority(), session);
  }

  /** Sends a message of ASCII characters. */
  void publish(String message) {
    String request = head + message.length() + "\r\n\r\n" + message;
    try {
      socket.getOutputStream().write(request.getBytes(UTF_8));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Reads the answers to so many messages.
   *
   * @throws WrongResultException if nginx refuses one
   */
  void awaitAnswers(int count) throws IOException {
    HttpInput in = new HttpInput(socket.getInputStream());
    for (int i = 0; i < count; i++) {
      HttpHead answer = in.head();
      if (answer == null) {
        throw new EOFException("nchan has closed the connection");
      }
      if (answer.status() / 100 != 2) {
        throw new WrongResultException("nchan answered " + answer.start());
      }
      in.body(answer, (_, _, _) -> {});
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

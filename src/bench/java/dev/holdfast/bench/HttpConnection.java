package dev.holdfast.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * A client's connection, one request at a time. Plain sockets: a client with a thread pool of its
 * own would be measured along with what it talks to.
 */
final class HttpConnection implements AutoCloseable {

  /** Silence of this length means that something was lost. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Socket socket;
  private final HttpInput in;
  private final OutputStream out;

  HttpConnection(URI url) throws IOException {
    socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.connect(new InetSocketAddress(url.getHost(), url.getPort()), (int) PATIENCE.toMillis());
    in = new HttpInput(socket.getInputStream());
    out = socket.getOutputStream();
  }

  /** Sends a whole request and reads the head of its answer. */
  HttpHead send(byte[] request) throws IOException {
    out.write(request);
    HttpHead head = in.head();
    if (head == null) {
      throw new EOFException("the connection was closed instead of an answer");
    }
    return head;
  }

  /** Reads the body of the answer. */
  void body(HttpHead head, Sink sink) throws IOException {
    in.body(head, sink);
  }

  /** Reads a body without length until it is enough. Afterwards the connection is of no use. */
  void body(Sink sink, BooleanSupplier enough) throws IOException {
    in.body(sink, enough);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

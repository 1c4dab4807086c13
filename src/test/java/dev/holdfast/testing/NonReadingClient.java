package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.stream.Stream;

/**
 * A client on a plain socket with a small receive buffer, which reads only when a test tells it to.
 */
public final class NonReadingClient implements AutoCloseable {

  private static final int ROOM = 4096;
  private static final int PATIENCE_MILLIS = 20_000;

  private final URI endpoint;
  private final Socket socket = new Socket();
  private final InputStream in;

  private NonReadingClient(URI endpoint) throws IOException {
    this.endpoint = endpoint;
    // Before the connection is made, or the window is already larger.
    socket.setReceiveBufferSize(ROOM);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), endpoint.getPort()));
    in = new BufferedInputStream(socket.getInputStream(), ROOM);
  }

  /** Connects, and says nothing yet. */
  public static NonReadingClient connect(URI endpoint) {
    try {
      return new NonReadingClient(endpoint);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Posts a body. */
  public NonReadingClient post(String session, String body) {
    byte[] bytes = body.getBytes(UTF_8);
    String headers =
        """
        Accept: application/json, text/event-stream
        Content-Type: application/json
        Mcp-Session-Id: %s
        Content-Length: %d
        """
            .formatted(session, bytes.length);
    return send(head("POST", headers)).send(bytes);
  }

  /** Asks for the rest of a stream. */
  public NonReadingClient resume(String session, String lastEventId) {
    String headers =
        """
        Accept: text/event-stream
        Mcp-Session-Id: %s
        Last-Event-ID: %s
        """
            .formatted(session, lastEventId);
    return send(head("GET", headers));
  }

  private byte[] head(String method, String headers) {
    return (method + " " + endpoint.getPath() + " HTTP/1.1\nHost: localhost\n" + headers + "\n")
        .replace("\n", "\r\n")
        .getBytes(ISO_8859_1);
  }

  /** Sends bytes as they are. */
  public NonReadingClient send(byte[] bytes) {
    try {
      OutputStream out = socket.getOutputStream();
      out.write(bytes);
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** What the server sends. It stops sending while nobody reads here. */
  public InputStream in() {
    return in;
  }

  /** The body of the response, which has chunked coding. Reads the head. */
  public InputStream body() throws IOException {
    readUntil("\r\n\r\n");
    return new ChunkedBody(in);
  }

  /** Reads until one of some texts has come, and gives all that it has read. */
  public String readUntil(String... texts) throws IOException {
    StringBuilder read = new StringBuilder();
    while (Stream.of(texts).noneMatch(text -> endsWith(read, text))) {
      int next = in().read();
      if (next < 0) {
        throw new AssertionError("the response ended after " + read);
      }
      read.append((char) next);
    }
    return read.toString();
  }

  private static boolean endsWith(StringBuilder read, String text) {
    int from = read.length() - text.length();
    return from >= 0 && read.indexOf(text, from) >= 0;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}

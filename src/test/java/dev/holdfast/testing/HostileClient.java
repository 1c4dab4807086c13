package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A client that sends any bytes, finished or not, from any loopback address. */
public final class HostileClient implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 20_000;
  private static final Pattern SESSION = Pattern.compile("(?im)^mcp-session-id: (\\S+)");

  private final Socket socket = new Socket();

  private HostileClient(String from, int port) throws IOException {
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.bind(new InetSocketAddress(from, 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /** The whole text of a response. */
  public record Response(String text) {

    /** The status; 0 if the connection was closed without a response. */
    public int status() {
      return text.isEmpty() ? 0 : Integer.parseInt(text.substring(9, 12));
    }

    /** The id of the session that was opened. */
    public String session() {
      Matcher header = SESSION.matcher(text);
      if (!header.find()) {
        throw new AssertionError("no session: " + text);
      }
      return header.group(1);
    }
  }

  /**
   * Sends a request on a connection of its own, and reads the response to its end.
   *
   * @param head without the last, empty line
   */
  public static Response exchange(int port, String head, String body) {
    try (HostileClient client = connect("127.0.0.1", port)) {
      return new Response(client.send(head + "\r\n\r\n" + body).readAll());
    }
  }

  /** Connects. */
  public static HostileClient connect(URI server) {
    return connect("127.0.0.1", server.getPort());
  }

  /**
   * Connects from an address of its own.
   *
   * @param from such as {@code 127.0.0.2}
   */
  public static HostileClient connect(String from, URI server) {
    return connect(from, server.getPort());
  }

  private static HostileClient connect(String from, int port) {
    try {
      return new HostileClient(from, port);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Sends a text, of which each character is a byte. */
  public HostileClient send(String text) {
    return send(text.getBytes(ISO_8859_1));
  }

  /** Sends bytes. A server that has closed the connection is no failure. */
  public HostileClient send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException closed) {
      // The answer tells why.
    }
    return this;
  }

  /** What the server sends. */
  public InputStream in() throws IOException {
    return socket.getInputStream();
  }

  /** Reads until a text has come. */
  public String readUntil(String text) {
    StringBuilder read = new StringBuilder();
    try {
      while (read.indexOf(text) < 0) {
        int next = socket.getInputStream().read();
        if (next < 0) {
          throw new AssertionError("the server closed the connection after: " + read);
        }
        read.append((char) next);
      }
      return read.toString();
    } catch (IOException failure) {
      throw new UncheckedIOException("after: " + read, failure);
    }
  }

  /** Reads until the server closes the connection, which it must. */
  public String readAll() {
    StringBuilder read = new StringBuilder();
    try {
      for (int next; (next = socket.getInputStream().read()) >= 0; ) {
        read.append((char) next);
      }
    } catch (SocketTimeoutException open) {
      throw new AssertionError("the server leaves the connection open after: " + read, open);
    } catch (IOException reset) {
      // A reset closes it as well.
    }
    return read.toString();
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

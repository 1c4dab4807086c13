package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One request as bytes on a socket of its own, so that no client makes its path nicer. */
final class RawHttp {

  private static final int PATIENCE_MILLIS = 20_000;
  private static final Pattern SESSION = Pattern.compile("(?im)^mcp-session-id: (\\S+)");

  private RawHttp() {}

  /** The whole text of a response. */
  record Response(String text) {

    /** The status; 0 if the connection was closed without a response. */
    int status() {
      return text.isEmpty() ? 0 : Integer.parseInt(text.substring(9, 12));
    }

    String session() {
      Matcher header = SESSION.matcher(text);
      if (!header.find()) {
        throw new AssertionError("no session: " + text);
      }
      return header.group(1);
    }
  }

  /**
   * Sends a request and reads the response to its end.
   *
   * @param head without the last, empty line
   */
  static Response send(int port, String head, String body) {
    try (Socket socket = open(port, head, body)) {
      return new Response(new String(socket.getInputStream().readAllBytes(), UTF_8));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Sends a request, whose response may be a stream. */
  static Socket open(int port, String head, String body) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.getOutputStream().write((head + "\r\n\r\n" + body).getBytes(UTF_8));
    return socket;
  }
}

package dev.holdfast.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLSocket;

/** The server's end of a connection: every byte and every fault by hand. */
public final class RawConnection {

  private final Socket socket;
  private final OutputStream out;

  /** Writes to this socket. */
  public RawConnection(Socket socket) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
  }

  /** The subject of the certificate that the client has shown. */
  public String clientCertificate() throws IOException {
    return ((SSLSocket) socket).getSession().getPeerPrincipal().getName();
  }

  /** Writes exactly these bytes, at once. */
  public RawConnection write(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
    return this;
  }

  /** Writes exactly this text in UTF-8, at once. */
  public RawConnection write(String text) throws IOException {
    return write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Answers completely. */
  public RawConnection answer(int status, String contentType, String body, String... headers)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String type = contentType.isEmpty() ? "" : "Content-Type: " + contentType + "\r\n";
    return write(
        head(status, headers) + type + "Content-Length: " + bytes.length + "\r\n\r\n" + body);
  }

  /** Begins an event stream in chunked coding. */
  public RawConnection beginEvents(String... headers) throws IOException {
    return write(
        head(200, headers)
            + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  }

  /** Writes a piece of a body in chunked coding. */
  public RawConnection chunk(String text) throws IOException {
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return write(Integer.toHexString(length) + "\r\n" + text + "\r\n");
  }

  /** Ends a body in chunked coding. */
  public RawConnection endChunks() throws IOException {
    return write("0\r\n\r\n");
  }

  /** Writes nothing more, until the client lets go or the server is closed. */
  public void stall() throws IOException {
    while (socket.getInputStream().read() >= 0) {
      // What the client says is not heard.
    }
  }

  /** Closes the connection in order, with a FIN. */
  public void close() throws IOException {
    socket.close();
  }

  /** Breaks the connection with a RST. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  boolean isClosed() {
    return socket.isClosed();
  }

  private static String head(int status, String... headers) {
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Scripted\r\n");
    for (String header : headers) {
      head.append(header).append("\r\n");
    }
    return head.toString();
  }
}

package dev.holdfast.faults;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients that send one short request after the other, on sockets, until the gateway accepts no
 * connection any more. Half of them keep their connections, and half use each one once.
 */
final class ShortCalls {

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"countdown\","
          + "\"arguments\":{\"from\":0}}}";

  private final URI url;
  private final String session;
  private final Map<String, AtomicInteger> counts = new ConcurrentSkipListMap<>();
  private final Queue<String> unanswered = new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();

  /** Starts the clients. */
  ShortCalls(Gateway gateway, int number) {
    url = gateway.url();
    session = McpClient.at(url).ready().session();
    for (int i = 0; i < number; i++) {
      boolean keeps = i % 2 == 0;
      String body = i % 4 < 2 ? PING : CALL;
      clients.add(Thread.ofVirtual().start(() -> run(keeps, body)));
    }
  }

  /** How many requests got this status line; {@code close} for those before the end of one. */
  int count(String outcome) {
    return counts.getOrDefault(outcome, new AtomicInteger()).get();
  }

  /** Waits for the end of the clients; returns each request that was sent and got no status. */
  List<String> awaitUnanswered() throws InterruptedException {
    for (Thread client : clients) {
      client.join();
    }
    return List.copyOf(unanswered);
  }

  @Override
  public String toString() {
    return new TreeMap<>(counts).toString();
  }

  private void run(boolean keeps, String body) {
    try {
      Connection current = new Connection();
      // One ahead: the gateway has accepted a connection some time before its request.
      Connection next = new Connection();
      while (true) {
        boolean closed = exchange(current, body);
        if (closed || !keeps) {
          current.socket.close();
          current = next;
          next = new Connection();
        }
      }
    } catch (IOException ended) {
      add("refused");
    }
  }

  /** Sends a request and reads the response; returns whether the connection ends with it. */
  private boolean exchange(Connection connection, String body) {
    try {
      connection.send(body);
    } catch (IOException closedBefore) {
      add("not sent");
      return true;
    }
    try {
      boolean closes = connection.receive();
      add(connection.status + (closes ? " close" : ""));
      return closes;
    } catch (IOException failure) {
      unanswered.add(connection.status + " " + failure.getMessage());
      return true;
    }
  }

  private void add(String outcome) {
    counts.computeIfAbsent(outcome, _ -> new AtomicInteger()).incrementAndGet();
  }

  private final class Connection {
    private final Socket socket = new Socket(url.getHost(), url.getPort());
    private final InputStream in = new BufferedInputStream(socket.getInputStream());
    private String status = "";

    Connection() throws IOException {}

    void send(String body) throws IOException {
      String head =
          "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + "Accept: application/json, text/event-stream\r\nMcp-Session-Id: "
              + session
              + "\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n";
      status = "";
      socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
    }

    boolean receive() throws IOException {
      status = line().substring("HTTP/1.1 ".length()).substring(0, 3);
      boolean closes = false;
      boolean chunked = false;
      int length = 0;
      for (String header = line(); !header.isEmpty(); header = line()) {
        String field = header.toLowerCase(Locale.ROOT);
        closes |= field.equals("connection: close");
        chunked |= field.equals("transfer-encoding: chunked");
        if (field.startsWith("content-length: ")) {
          length = Integer.parseInt(field.substring("content-length: ".length()));
        }
      }
      if (chunked) {
        do {
          length = Integer.parseInt(line(), 16);
          in.skipNBytes(length + 2L);
        } while (length > 0);
      } else {
        in.skipNBytes(length);
      }
      return closes;
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int c = in.read(); c != '\n'; c = in.read()) {
        if (c < 0) {
          throw new EOFException("the connection was closed");
        }
        if (c != '\r') {
          line.append((char) c);
        }
      }
      return line.toString();
    }
  }
}

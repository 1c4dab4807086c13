package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Notes every command that a Redis gets, also those within scripts. So it sees all that a store
 * ever holds, whatever is deleted since.
 */
public final class RedisMonitor implements AutoCloseable {

  private final Socket socket;
  private final Queue<String> seen = new ConcurrentLinkedQueue<>();

  private RedisMonitor(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.getOutputStream().write("MONITOR\r\n".getBytes(US_ASCII));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
    if (!"+OK".equals(lines.readLine())) {
      throw new IOException("no MONITOR");
    }
    Thread.ofVirtual().start(() -> read(lines));
  }

  /** Begins to watch. */
  public static RedisMonitor start(RedisFixture redis) {
    try {
      return new RedisMonitor(redis.port());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void read(BufferedReader lines) {
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        seen.add(line);
      }
    } catch (SocketException closed) {
      // As expected.
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** All commands with their arguments so far, one on a line. */
  public String seen() {
    return String.join("\n", seen);
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

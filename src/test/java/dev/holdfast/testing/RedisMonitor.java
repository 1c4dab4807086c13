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
import java.util.function.Consumer;

/**
 * Notes every command that a Redis gets, also those within scripts. So it sees all that a store
 * ever holds, whatever is deleted since.
 */
public final class RedisMonitor implements AutoCloseable {

  private final Socket socket;
  private final Queue<String> seen;

  private RedisMonitor(int port, Queue<String> seen, Consumer<String> each) throws IOException {
    this.seen = seen;
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.getOutputStream().write("MONITOR\r\n".getBytes(US_ASCII));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
    if (!"+OK".equals(lines.readLine())) {
      throw new IOException("no MONITOR");
    }
    Thread.ofVirtual().start(() -> read(lines, each));
  }

  /** Begins to watch. */
  public static RedisMonitor start(RedisFixture redis) {
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    return start(redis, seen, seen::add);
  }

  /**
   * Begins to watch without notes, which would be too many.
   *
   * @param each gets each command with its arguments; those of a script come after the script
   */
  public static RedisMonitor start(RedisFixture redis, Consumer<String> each) {
    return start(redis, new ConcurrentLinkedQueue<>(), each);
  }

  private static RedisMonitor start(RedisFixture redis, Queue<String> seen, Consumer<String> each) {
    try {
      return new RedisMonitor(redis.port(), seen, each);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void read(BufferedReader lines, Consumer<String> each) {
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        each.accept(line);
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

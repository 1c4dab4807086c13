package dev.holdfast.relay.tail;

import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * Writes the frames of a {@link Tail} and gives up a client that does not read. The write timeout,
 * an eviction and the maximum lifetime apply while a write waits. Owned by the thread of the tail.
 */
final class ClientWriter {

  /**
   * Bytes of one write. A small number tells a slow client from one that does not read, however
   * large an event is.
   */
  static final int CHUNK = 64 * 1024;

  /**
   * The interval at which a waiting write checks whether the tail should end. After that the client
   * has one more interval to read the {@code retry} that tells it when to reconnect.
   */
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

  private final ClientConnection connection;
  private final BooleanSupplier shouldEnd;
  private final ConnectionClock clock;
  private final Duration timeout;

  /**
   * Creates a writer.
   *
   * @param shouldEnd whether the tail should end as soon as it can
   * @param clock hears of each write
   * @param timeout how long the client may take nothing
   */
  ClientWriter(
      ClientConnection connection,
      BooleanSupplier shouldEnd,
      ConnectionClock clock,
      Duration timeout) {
    this.connection = connection;
    this.shouldEnd = shouldEnd;
    this.clock = clock;
    this.timeout = timeout;
  }

  /** Writes the buffered frames and waits until the socket has taken them. */
  void flush(SseWriter frames) throws ClientGoneException {
    if (frames.length() == 0) {
      return;
    }
    clock.written();
    byte[] bytes = frames.take();
    for (int at = 0; at < bytes.length; at += CHUNK) {
      connection.write(chunk(bytes, at));
      awaitTaken();
    }
  }

  private static byte[] chunk(byte[] bytes, int at) {
    return bytes.length <= CHUNK
        ? bytes
        : Arrays.copyOfRange(bytes, at, Math.min(at + CHUNK, bytes.length));
  }

  private void awaitTaken() throws ClientGoneException {
    long since = System.nanoTime();
    boolean lastChance = false;
    Duration left = timeout;
    while (!connection.awaitTaken(left.compareTo(CHECK_INTERVAL) < 0 ? left : CHECK_INTERVAL)) {
      left = timeout.minusNanos(System.nanoTime() - since);
      if (lastChance || !left.isPositive()) {
        connection.abort();
        throw new ClientGoneException(null);
      }
      lastChance = shouldEnd.getAsBoolean() || clock.isOld();
    }
  }

  /** Writes the buffered frames, if there are any, with the end of the response. */
  void end(SseWriter frames) throws ClientGoneException {
    if (frames.length() > 0) {
      connection.end(frames.take());
    }
  }
}

package dev.holdfast.relay.tail;

import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * Sends what a {@link Tail} has, and gives up a client that does not take it: the longest stall, an
 * eviction and the end of the connection's life count while a write waits, too. Owned by the thread
 * of its tail.
 */
final class ClientWriter {

  /**
   * What is written at once. Small, so that a slow client that reads is told from one that does
   * not, however large a page or an event is; and all that is held for either.
   */
  static final int PIECE = 64 * 1024;

  /**
   * How often a write that waits looks whether it is still wanted. Once it is not, it has as long
   * again: a client that reads shall learn when to come back.
   */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final ClientConnection connection;
  private final BooleanSupplier unwanted;
  private final ConnectionClock lifetime;
  private final Duration longestStall;

  /**
   * Opens.
   *
   * @param unwanted tells whether the tail is to end as soon as it can
   * @param lifetime is told what is written
   * @param longestStall how long the client may take nothing
   */
  ClientWriter(
      ClientConnection connection,
      BooleanSupplier unwanted,
      ConnectionClock lifetime,
      Duration longestStall) {
    this.connection = connection;
    this.unwanted = unwanted;
    this.lifetime = lifetime;
    this.longestStall = longestStall;
  }

  /** Sends what is buffered, and waits until the socket has taken it. */
  void flush(SseWriter frames) throws ClientGoneException {
    if (frames.length() == 0) {
      return;
    }
    lifetime.written();
    byte[] bytes = frames.take();
    for (int at = 0; at < bytes.length; at += PIECE) {
      connection.write(piece(bytes, at));
      awaitTaken();
    }
  }

  private static byte[] piece(byte[] bytes, int at) {
    return bytes.length <= PIECE
        ? bytes
        : Arrays.copyOfRange(bytes, at, Math.min(at + PIECE, bytes.length));
  }

  private void awaitTaken() throws ClientGoneException {
    long since = System.nanoTime();
    boolean lastChance = false;
    Duration left = longestStall;
    while (!connection.awaitTaken(left.compareTo(LOOK) < 0 ? left : LOOK)) {
      left = longestStall.minusNanos(System.nanoTime() - since);
      if (lastChance || !left.isPositive()) {
        connection.abort();
        throw new ClientGoneException(null);
      }
      lastChance = unwanted.getAsBoolean() || lifetime.isOld();
    }
  }

  /** Sends what is buffered, if anything, with the end of the response. */
  void end(SseWriter frames) throws ClientGoneException {
    if (frames.length() > 0) {
      connection.end(frames.take());
    }
  }
}

package dev.holdfast.relay.tail;

import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Writes the frames of a {@link Tail} or another reader, and knows the deadlines of its connection
 * by the monotonic clock. It gives up a client that does not read: the write timeout, an eviction
 * and the maximum lifetime apply while a write waits. Owned by the thread of the tail.
 */
public final class ClientWriter {

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

  private static final Duration FOREVER = Duration.ofDays(1000);

  private final StreamConfig config;
  private final BooleanSupplier shouldEnd;
  private final BooleanSupplier awaited;
  private final BooleanSupplier needed;
  private final long opened = System.nanoTime();
  private long lastWrite = opened;
  private long lastEvent = opened;

  /** True if the socket may not have taken the bytes of {@link #writeNow}. */
  private boolean untaken;

  /**
   * Creates the writer of a new connection.
   *
   * @param shouldEnd whether the client should reconnect, so that a slow write ends soon
   * @param awaited whether the client awaits a response here, so that silence ends nothing
   * @param needed whether it would lose the response with the connection, so that age ends nothing
   */
  public ClientWriter(
      StreamConfig config,
      BooleanSupplier shouldEnd,
      BooleanSupplier awaited,
      BooleanSupplier needed) {
    this.config = config;
    this.shouldEnd = shouldEnd;
    this.awaited = awaited;
    this.needed = needed;
  }

  /**
   * Writes the buffered frames and waits until the socket has taken them.
   *
   * @throws ClientGoneException if the client has left, or has taken too little for too long
   */
  public void flush(ClientConnection client, SseWriter frames) throws ClientGoneException {
    if (frames.length() == 0) {
      return;
    }
    lastWrite = System.nanoTime();
    byte[] bytes = frames.take();
    for (int at = 0; at < bytes.length; at += CHUNK) {
      int end = Math.min(at + CHUNK, bytes.length);
      client.write(end - at == bytes.length ? bytes : Arrays.copyOfRange(bytes, at, end));
      awaitTaken(client);
    }
  }

  /** Returns true if the socket has taken everything, so that {@link #writeNow} is possible. */
  boolean hasTaken(ClientConnection client) throws ClientGoneException {
    untaken = untaken && !client.awaitTaken(Duration.ZERO);
    return !untaken;
  }

  /** Writes the buffered frames and does not wait for the socket. */
  void writeNow(ClientConnection client, SseWriter frames) throws ClientGoneException {
    lastWrite = System.nanoTime();
    client.write(frames.take());
    untaken = !client.awaitTaken(Duration.ZERO);
  }

  /** Waits until the socket has taken the bytes of {@link #writeNow}. */
  void settle(ClientConnection client) throws ClientGoneException {
    if (untaken) {
      awaitTaken(client);
      untaken = false;
    }
  }

  private void awaitTaken(ClientConnection client) throws ClientGoneException {
    long since = System.nanoTime();
    boolean lastChance = false;
    Duration left = config.writeTimeout();
    while (!client.awaitTaken(left.compareTo(CHECK_INTERVAL) < 0 ? left : CHECK_INTERVAL)) {
      left = left(since, config.writeTimeout());
      if (lastChance || left.isZero()) {
        client.abort();
        throw new ClientGoneException(null);
      }
      lastChance = shouldEnd.getAsBoolean() || untilOld().isZero();
    }
  }

  /** Notes that events were sent. */
  void delivered() {
    lastEvent = System.nanoTime();
  }

  /** The time since the connection was opened. */
  public Duration age() {
    return Duration.ofNanos(System.nanoTime() - opened);
  }

  /** Returns true if the connection reached its maximum lifetime or its idle timeout. */
  boolean isOver() {
    return untilOld().isZero() || untilIdle().isZero();
  }

  private Duration untilIdle() {
    Duration most = config.idleTimeout();
    return most.isZero() || awaited.getAsBoolean() ? FOREVER : left(lastEvent, most);
  }

  private Duration untilOld() {
    Duration left = left(opened, config.maxLifetime());
    return left.isZero() && needed.getAsBoolean() ? FOREVER : left;
  }

  /** Returns true if a keep-alive comment is due. */
  boolean isSilent() {
    return left(lastWrite, config.keepAlive()).isZero();
  }

  /** The time until the next of these deadlines. */
  Duration untilNextDeadline() {
    return Collections.min(List.of(left(lastWrite, config.keepAlive()), untilIdle(), untilOld()));
  }

  private static Duration left(long since, Duration span) {
    Duration left = span.minusNanos(System.nanoTime() - since);
    return left.isNegative() ? Duration.ZERO : left;
  }
}

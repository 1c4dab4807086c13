package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.Shares;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes that this replica holds for its clients: in all, and per client, so that one
 * client leaves room for others. Thread-safe.
 */
final class ClientBytes {

  private static final int HEAP_FRACTION = 10;
  private static final int CLIENT_FRACTION = 4;

  private final ByteBudget all;
  private final Shares<Client> clients;

  /**
   * Creates a limit. It has room for two of the largest messages at least, and the share of a
   * client for one.
   *
   * @param bytes of all clients together
   * @param largest size of the largest message
   */
  ClientBytes(long bytes, int largest) {
    long capacity = Math.max(bytes, 2L * largest);
    all = new ByteBudget(capacity);
    clients = new Shares<>(Math.max(capacity / CLIENT_FRACTION, largest));
  }

  /** The default limit on the bytes of all clients. */
  static long defaultBytes() {
    return Runtime.getRuntime().maxMemory() / HEAP_FRACTION;
  }

  /** Opens a lease, with no bytes yet. */
  Lease open(Client client) {
    return new Lease(client);
  }

  /** The budget of all clients together. */
  ByteBudget all() {
    return all;
  }

  /** Whether bytes were taken, or which limit they would exceed. */
  enum Result {
    TAKEN,
    TOO_MANY_OF_CLIENT,
    TOO_MANY
  }

  /** Bytes that are held together. */
  final class Lease {

    private final Client client;
    private final AtomicLong taken = new AtomicLong();

    private Lease(Client client) {
      this.client = client;
    }

    /** Takes bytes before they are held, unless that exceeds a limit. */
    Result take(long bytes) {
      if (!clients.tryTake(client, bytes)) {
        return Result.TOO_MANY_OF_CLIENT;
      }
      if (!all.tryTake(bytes)) {
        clients.giveBack(client, bytes);
        return Result.TOO_MANY;
      }
      taken.addAndGet(bytes);
      return Result.TAKEN;
    }

    /** Gives all bytes back. Further calls do nothing until more are taken. From any thread. */
    void release() {
      long bytes = taken.getAndSet(0);
      if (bytes > 0) {
        all.giveBack(bytes);
        clients.giveBack(client, bytes);
      }
    }
  }
}

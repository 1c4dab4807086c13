package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.http.error.RequestRejectedException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes of request bodies that this replica holds: in all, and per client, so that
 * unfinished requests of one client leave room for others. Thread-safe.
 */
@Singleton
public final class BodyBudget {

  private static final int HEAP_FRACTION = 10;
  private static final int CLIENT_FRACTION = 4;

  private final ByteBudget all;
  private final ClientShares clients;

  @Inject
  BodyBudget(LimitsConfig limits) {
    this(
        limits
            .requestBytes()
            .map(size -> size.asLongValue())
            .orElse(Runtime.getRuntime().maxMemory() / HEAP_FRACTION),
        limits.messageBytes().value());
  }

  /**
   * Creates a budget. It has room for two of the largest messages at least, and the share of a
   * client for one.
   *
   * @param bytes of all clients together
   * @param largest size of the largest message
   */
  public BodyBudget(long bytes, int largest) {
    long capacity = Math.max(bytes, 2L * largest);
    all = new ByteBudget(capacity);
    clients = new ClientShares(Math.max(capacity / CLIENT_FRACTION, largest));
  }

  /** Opens the lease of one body, with no bytes yet. */
  public Lease open(String address) {
    return new Lease(ClientNetwork.of(address));
  }

  /** The bytes of one body. */
  public final class Lease implements AutoCloseable {

    private final ClientNetwork client;
    private final AtomicLong taken = new AtomicLong();
    private boolean handedOver;

    private Lease(ClientNetwork client) {
      this.client = client;
    }

    /**
     * Takes bytes before they are held.
     *
     * @throws RequestRejectedException with 503 when too few are left
     */
    public void take(long bytes) {
      if (!clients.tryTake(client, bytes)) {
        throw new RequestRejectedException(503, "Too many bytes at once from this address");
      }
      if (!all.tryTake(bytes)) {
        clients.giveBack(client, bytes);
        throw new RequestRejectedException(503, "Too many bytes at once; try again");
      }
      taken.addAndGet(bytes);
    }

    /** Leaves the release to another holder of the body, which calls {@link #release}. */
    public void handOver() {
      handedOver = true;
    }

    /** Gives all bytes back. Further calls do nothing. From any thread. */
    public void release() {
      long bytes = taken.getAndSet(0);
      if (bytes > 0) {
        all.giveBack(bytes);
        clients.giveBack(client, bytes);
      }
    }

    @Override
    public void close() {
      if (!handedOver) {
        release();
      }
    }
  }
}

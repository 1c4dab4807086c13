package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.http.error.RequestRejectedException;
import io.quarkus.runtime.configuration.MemorySize;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/**
 * Limits the bytes of request bodies that this replica holds: in all, and per client, so that
 * unfinished requests of one client leave room for others. Thread-safe.
 */
@Singleton
public final class BodyBudget {

  private final ClientBytes bodies;

  @Inject
  BodyBudget(LimitsConfig limits) {
    this(
        limits.requestBytes().map(MemorySize::asLongValue).orElseGet(ClientBytes::defaultBytes),
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
    bodies = new ClientBytes(bytes, largest);
  }

  /** Opens the lease of one body, with no bytes yet. */
  public Lease open(Client client) {
    return new Lease(bodies.open(client));
  }

  /** The budget of all clients together. */
  public ByteBudget all() {
    return bodies.all();
  }

  /** The bytes of one body. */
  public static final class Lease implements AutoCloseable {

    private final ClientBytes.Lease bytes;
    private boolean handedOver;

    private Lease(ClientBytes.Lease bytes) {
      this.bytes = bytes;
    }

    /**
     * Takes bytes before they are held.
     *
     * @throws RequestRejectedException with 503 when too few are left
     */
    public void take(long more) {
      switch (bytes.take(more)) {
        case TAKEN -> {}
        case TOO_MANY_OF_CLIENT ->
            throw new RequestRejectedException(503, "Too many bytes at once from this client");
        case TOO_MANY ->
            throw new RequestRejectedException(503, "Too many bytes at once; try again");
      }
    }

    /** Leaves the release to another holder of the body, which calls {@link #release}. */
    public void handOver() {
      handedOver = true;
    }

    /** Gives all bytes back. Further calls do nothing. From any thread. */
    public void release() {
      bytes.release();
    }

    @Override
    public void close() {
      if (!handedOver) {
        release();
      }
    }
  }
}

package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.Shares;
import dev.holdfast.http.error.RequestRejectedException;
import io.quarkus.runtime.configuration.MemorySize;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes that this replica holds for its clients, such as those of unfinished request
 * bodies: in all, and per client, so that one client leaves room for others. Thread-safe.
 */
@Singleton
public final class ClientBytes {

  private static final int HEAP_FRACTION = 10;
  private static final int CLIENT_FRACTION = 4;

  private final ByteBudget all;
  private final Shares<Client> clients;

  /** The limit on request bodies. */
  @Inject
  ClientBytes(LimitsConfig limits) {
    this(
        limits.requestBytes().map(MemorySize::asLongValue).orElseGet(ClientBytes::defaultBytes),
        limits.messageBytes().value());
  }

  /**
   * Creates a limit. It has room for two of the largest messages at least, and the share of a
   * client for one.
   *
   * @param bytes of all clients together
   * @param largest size of the largest message
   */
  public ClientBytes(long bytes, int largest) {
    long capacity = Math.max(bytes, 2L * largest);
    all = new ByteBudget(capacity);
    clients = new Shares<>(Math.max(capacity / CLIENT_FRACTION, largest));
  }

  /** The default limit on the bytes of all clients. */
  static long defaultBytes() {
    return Runtime.getRuntime().maxMemory() / HEAP_FRACTION;
  }

  /** Opens a lease, with no bytes yet. */
  public Lease open(Client client) {
    return new Lease(client);
  }

  /** The budget of all clients together. */
  public ByteBudget all() {
    return all;
  }

  /** Bytes that are held together. */
  public final class Lease implements AutoCloseable {

    private final Client client;
    private final AtomicLong taken = new AtomicLong();
    private boolean handedOver;

    private Lease(Client client) {
      this.client = client;
    }

    /** Takes bytes before they are held, unless that exceeds a limit. */
    boolean tryTake(long bytes) {
      return excess(bytes) == null;
    }

    /** Takes bytes and returns null, or returns what to say about the limit they exceed. */
    private @Nullable String excess(long bytes) {
      if (!clients.tryTake(client, bytes)) {
        return " from this client";
      }
      if (!all.tryTake(bytes)) {
        clients.giveBack(client, bytes);
        return "; try again";
      }
      taken.addAndGet(bytes);
      return null;
    }

    /**
     * Takes bytes before they are held.
     *
     * @throws RequestRejectedException with 503 when too few are left
     */
    public void take(long bytes) {
      String excess = excess(bytes);
      if (excess != null) {
        throw new RequestRejectedException(503, "Too many bytes at once" + excess);
      }
    }

    /** Leaves the release to another holder of the bytes, which calls {@link #release}. */
    public void handOver() {
      handedOver = true;
    }

    /** Gives all bytes back. Further calls do nothing until more are taken. From any thread. */
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

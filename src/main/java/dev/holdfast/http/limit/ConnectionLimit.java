package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.http.error.RequestRejectedException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * Limits the connections that follow a stream, or wait for a response that may be one, and the
 * bytes of large responses that wait for their clients to read: in all, and per client.
 * Thread-safe.
 */
@Singleton
public final class ConnectionLimit {

  private static final Logger LOG = Logger.getLogger(ConnectionLimit.class);

  private static final int HEAP_FRACTION = 10;
  private static final int CLIENT_FRACTION = 4;

  private final int max;
  private final ByteBudget held;
  private final ClientShares heldByClient;
  private final AtomicInteger acquired = new AtomicInteger();
  private final ClientShares clients;
  private final AtomicBoolean warned = new AtomicBoolean();

  @Inject
  ConnectionLimit(LimitsConfig limits) {
    this(
        limits.connections(),
        limits.connectionsPerAddress(),
        Runtime.getRuntime().maxMemory() / HEAP_FRACTION,
        limits.messageBytes().value());
  }

  /**
   * Creates a limit.
   *
   * @param max of all clients together
   * @param maxPerClient of each {@link ClientNetwork}
   * @param bytes that all clients together may let wait. A client may have a quarter, and at least
   *     one of the largest messages
   * @param largest size of the largest message
   */
  public ConnectionLimit(int max, int maxPerClient, long bytes, int largest) {
    this.max = max;
    clients = new ClientShares(maxPerClient);
    long capacity = Math.max(bytes, 2L * largest);
    held = new ByteBudget(capacity);
    heldByClient = new ClientShares(Math.max(capacity / CLIENT_FRACTION, largest));
  }

  /**
   * Acquires a slot for one connection.
   *
   * @param address the client's
   * @throws RequestRejectedException with 429 when all slots, or all of this client, are taken
   */
  public Slot acquire(String address) {
    ClientNetwork client = ClientNetwork.of(address);
    if (acquired.incrementAndGet() > max) {
      acquired.decrementAndGet();
      throw new RequestRejectedException(429, "Too many connections");
    }
    if (!clients.tryTake(client, 1)) {
      acquired.decrementAndGet();
      warnOnce(client);
      throw new RequestRejectedException(429, "Too many connections from this address");
    }
    return new Slot(client);
  }

  /** Once, because an attack would flood the log. The client may also be a proxy. */
  private void warnOnce(ClientNetwork client) {
    if (warned.compareAndSet(false, true)) {
      LOG.warnf(
          "Client reached its connection limit; if it is a proxy, set quarkus.http.proxy:"
              + " client=%s",
          client.name());
    }
  }

  private void release(ClientNetwork client) {
    clients.giveBack(client, 1);
    acquired.decrementAndGet();
  }

  int clients() {
    return clients.clients();
  }

  /** One connection's share of the limit. */
  public final class Slot {

    private final ClientNetwork client;
    private final AtomicBoolean released = new AtomicBoolean();
    private final AtomicLong bytes = new AtomicLong();

    private Slot(ClientNetwork client) {
      this.client = client;
    }

    /**
     * Takes bytes that wait for the client to read, unless too many wait for this client or in all.
     */
    public boolean tryHold(long more) {
      if (!heldByClient.tryTake(client, more)) {
        return false;
      }
      if (!held.tryTake(more)) {
        heldByClient.giveBack(client, more);
        return false;
      }
      bytes.addAndGet(more);
      return true;
    }

    /**
     * Takes bytes as {@link #tryHold} does.
     *
     * @throws RequestRejectedException with 503 when too many wait
     */
    public void hold(long more) {
      if (!tryHold(more)) {
        throw new RequestRejectedException(503, "Too many bytes wait for clients; try again");
      }
    }

    /** Gives back all bytes that wait. */
    public void giveBack() {
      long taken = bytes.getAndSet(0);
      if (taken > 0) {
        held.giveBack(taken);
        heldByClient.giveBack(client, taken);
      }
    }

    /** Releases the slot. Further calls do nothing. */
    public void release() {
      if (released.compareAndSet(false, true)) {
        ConnectionLimit.this.release(client);
      }
    }
  }
}

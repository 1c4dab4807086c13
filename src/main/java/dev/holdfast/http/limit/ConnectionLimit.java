package dev.holdfast.http.limit;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.http.error.RequestRejectedException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Limits the connections that follow a stream, or wait for a response that may be one, and the
 * bytes of large responses that wait for their clients to read: in all, and per client.
 * Thread-safe.
 */
public final class ConnectionLimit {

  private static final Logger LOG = Logger.getLogger(ConnectionLimit.class);

  /** Bytes of a small answer: an event that a tail takes at once, and what is added to it. */
  private static final int SMALL = 64 << 10;

  private final IntSupplier max;
  private final ClientBytes held;
  private final AtomicInteger acquired = new AtomicInteger();
  private final ClientLimit clients;
  private final AtomicBoolean warned = new AtomicBoolean();

  /** Creates a limit whose numbers of connections may change. */
  public ConnectionLimit(Supplier<LimitsConfig> limits) {
    this(
        () -> limits.get().connections(),
        () -> limits.get().connectionsPerAddress(),
        ClientBytes.defaultBytes(),
        // Larger messages do not get into the memory for messages of servers.
        (int)
            Math.min(
                limits.get().serverMessageBytes().value(), Runtime.getRuntime().maxMemory() / 8));
  }

  /**
   * Creates a limit.
   *
   * @param max of all clients together
   * @param maxPerClient of each {@link Client}
   * @param bytes that all clients together may let wait. A client may have a quarter, and at least
   *     one of the largest messages
   * @param largest size of the largest message
   */
  public ConnectionLimit(IntSupplier max, IntSupplier maxPerClient, long bytes, int largest) {
    this.max = max;
    clients = new ClientLimit("connections", maxPerClient);
    held = new ClientBytes(bytes, largest);
  }

  /**
   * Acquires a slot for one connection.
   *
   * @throws RequestRejectedException with 429 when all slots, or all of this client, are taken
   */
  public Slot acquire(Client client) {
    if (acquired.incrementAndGet() > max.getAsInt()) {
      acquired.decrementAndGet();
      throw new RequestRejectedException(429, "Too many connections");
    }
    if (!clients.tryTake(client)) {
      acquired.decrementAndGet();
      warnOnce(client);
      throw new RequestRejectedException(429, "Too many connections from this client");
    }
    return new Slot(client);
  }

  /** The limit of each client. */
  public ClientLimit perClient() {
    return clients;
  }

  /** The number of slots. */
  public int max() {
    return max.getAsInt();
  }

  /** The number of slots that are taken. */
  public int used() {
    return acquired.get();
  }

  /** The budget of the bytes that may wait for clients to read. */
  public ByteBudget unread() {
    return held.all();
  }

  /** Once, because an attack would flood the log. The client may also be a proxy. */
  private void warnOnce(Client client) {
    if (warned.compareAndSet(false, true)) {
      LOG.warnf(
          "client reached its connection limit client=%s advice=if it is a proxy, set"
              + " quarkus.http.proxy",
          client);
    }
  }

  private void release(Client client) {
    clients.giveBack(client);
    acquired.decrementAndGet();
  }

  int clients() {
    return clients.clients();
  }

  /** One connection's share of the limit. */
  public final class Slot {

    private final Client client;
    private final AtomicBoolean released = new AtomicBoolean();
    private final ClientBytes.Lease bytes;

    private Slot(Client client) {
      this.client = client;
      bytes = held.open(client);
    }

    /**
     * Takes bytes that wait for the client to read, unless too many wait for this client or in all.
     */
    public boolean tryHold(long more) {
      return bytes.tryTake(more);
    }

    /**
     * Takes bytes of an answer as {@link #tryHold} does. A small one is never refused: a socket
     * takes it at once, and its request was executed.
     *
     * @throws RequestRejectedException with 503 when too many wait
     */
    public void hold(long more) {
      if (!tryHold(more) && more > SMALL) {
        throw new RequestRejectedException(503, "Too many bytes wait for clients; try again");
      }
    }

    /** Gives back all bytes that wait. */
    public void giveBack() {
      bytes.release();
    }

    /** Releases the slot. Further calls do nothing. */
    public void release() {
      if (released.compareAndSet(false, true)) {
        ConnectionLimit.this.release(client);
      }
    }
  }
}

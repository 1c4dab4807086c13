package dev.holdfast.http.limit;

import dev.holdfast.http.error.RequestRejectedException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;

/**
 * Limits the connections that follow a stream, or wait for a response that may be one: in all, and
 * per client. Thread-safe.
 */
@Singleton
public final class ConnectionLimit {

  private static final Logger LOG = Logger.getLogger(ConnectionLimit.class);

  private final int max;
  private final AtomicInteger acquired = new AtomicInteger();
  private final ClientShares clients;
  private final AtomicBoolean warned = new AtomicBoolean();

  @Inject
  ConnectionLimit(LimitsConfig limits) {
    this(limits.connections(), limits.connectionsPerAddress());
  }

  /**
   * Creates a limit.
   *
   * @param max of all clients together
   * @param maxPerClient of each {@link ClientNetwork}
   */
  public ConnectionLimit(int max, int maxPerClient) {
    this.max = max;
    clients = new ClientShares(maxPerClient);
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

    private Slot(ClientNetwork client) {
      this.client = client;
    }

    /** Releases the slot. Further calls do nothing. */
    public void release() {
      if (released.compareAndSet(false, true)) {
        ConnectionLimit.this.release(client);
      }
    }
  }
}

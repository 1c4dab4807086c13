package dev.holdfast.http;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * Counts the connections that follow a stream, or wait for an answer that may be one, all of them
 * and by client. Thread-safe.
 */
@Singleton
final class ConnectionLimit {

  private static final Logger LOG = Logger.getLogger(ConnectionLimit.class);

  private final int most;
  private final int mostOfOne;
  private final AtomicInteger taken = new AtomicInteger();

  /** Has only those who are there, so it is no larger than the limit. */
  private final Map<ClientNetwork, Integer> byClient = new ConcurrentHashMap<>();

  private final AtomicBoolean warned = new AtomicBoolean();

  @Inject
  ConnectionLimit(LimitsConfig limits) {
    this(limits.connections(), limits.connectionsPerAddress());
  }

  ConnectionLimit(int most, int mostOfOne) {
    this.most = most;
    this.mostOfOne = mostOfOne;
  }

  /**
   * Takes a place.
   *
   * @param address the client's
   * @throws TooManyConnections when there is none, or none for this client
   */
  Slot take(String address) {
    ClientNetwork client = ClientNetwork.of(address);
    if (taken.incrementAndGet() > most) {
      taken.decrementAndGet();
      throw new TooManyConnections("Too many connections");
    }
    if (byClient.merge(client, 1, Integer::sum) > mostOfOne) {
      giveBack(client);
      warn(client);
      throw new TooManyConnections("Too many connections from this address");
    }
    return new Slot(client);
  }

  /**
   * Takes a place for an answer, which gives it back when it has ended.
   *
   * @param address the client's
   * @param answer what is answered to whoever has the place; if it fails, that is given back
   * @throws TooManyConnections as {@link #take} does
   */
  Response within(String address, Function<Slot, Response> answer) {
    Slot slot = take(address);
    try {
      return answer.apply(slot);
    } catch (RuntimeException failure) {
      slot.giveBack();
      throw failure;
    }
  }

  /** Once: it may be an attack, or a proxy behind which all clients look like one. */
  private void warn(ClientNetwork client) {
    if (warned.compareAndSet(false, true)) {
      LOG.warnf(
          "client=%s has as many connections as one address may; if it is a proxy, let it name its"
              + " clients: see quarkus.http.proxy",
          client.name());
    }
  }

  private void giveBack(ClientNetwork client) {
    byClient.computeIfPresent(client, (_, count) -> count == 1 ? null : count - 1);
    taken.decrementAndGet();
  }

  /** How many clients have a place. */
  int clients() {
    return byClient.size();
  }

  /** A place that is taken. */
  final class Slot {

    private final ClientNetwork client;
    private final AtomicBoolean given = new AtomicBoolean();

    private Slot(ClientNetwork client) {
      this.client = client;
    }

    /** Gives the place back. Further calls do nothing. */
    void giveBack() {
      if (given.compareAndSet(false, true)) {
        ConnectionLimit.this.giveBack(client);
      }
    }
  }

  /** There are as many connections as there may be. */
  static final class TooManyConnections extends RuntimeException {
    /** Says to the client of what there are too many. */
    TooManyConnections(String message) {
      super(message, null, false, false);
    }
  }
}

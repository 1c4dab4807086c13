package dev.holdfast.http.limit;

import dev.holdfast.budget.Shares;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/**
 * Limit of each client on one thing, such as connections. {@link SharedLimits} makes it count for
 * all replicas: about once a second it takes what clients used here, and restricts those that use
 * the same elsewhere. Thread-safe.
 */
public final class ClientLimit {

  /** Clients that are counted between two exchanges. Further ones are not restricted. */
  static final int MAX_CLIENTS = 100_000;

  private final String name;
  private final IntSupplier most;
  private final Shares<Client> held = new Shares<>(client -> Math.max(1, (long) share(client)));

  /** Units that clients wanted since the last exchange: refused ones, or requests of a rate. */
  private final Map<Client, Long> wanted = new ConcurrentHashMap<>();

  /** Share of each client that others use, too. Replaced by each exchange. */
  private volatile Map<Client, Double> shares = Map.of();

  private volatile boolean exchanged;

  /**
   * Creates a limit that counts on this replica.
   *
   * @param name differs between the limits of a replica
   * @param most the limit, which may change; {@link Integer#MAX_VALUE} for none
   */
  ClientLimit(String name, IntSupplier most) {
    this.name = name;
    this.most = most;
  }

  String name() {
    return name;
  }

  int most() {
    return most.getAsInt();
  }

  /** The part of the limit that this replica may give to a client. */
  double share(Client client) {
    return Math.min(most(), shares.getOrDefault(client, Double.MAX_VALUE));
  }

  /**
   * Takes a unit unless that exceeds the share of the client. A replica always gives the first
   * unit, since another replica may have heard late that the client returned one there.
   */
  boolean tryTake(Client client) {
    if (held.tryTake(client, 1)) {
      return true;
    }
    want(client);
    return false;
  }

  /** Returns a unit. */
  void giveBack(Client client) {
    held.giveBack(client, 1);
  }

  /** Counts a unit that a client wants and may not get. */
  void want(Client client) {
    if (exchanged && (wanted.size() < MAX_CLIENTS || wanted.containsKey(client))) {
      wanted.merge(client, 1L, Long::sum);
    }
  }

  /** Number of clients that hold something. */
  int clients() {
    return held.size();
  }

  /**
   * Takes what clients used since the last call.
   *
   * @param least clients that want less are left out
   */
  Map<Client, ClientUse> takeUse(double least) {
    exchanged = true;
    Map<Client, ClientUse> all = new HashMap<>();
    wanted
        .keySet()
        .forEach(client -> {
          Long units = wanted.remove(client);
          all.put(client, new ClientUse(0, units == null ? 0 : units));
        });
    held.forEach(
        (client, units) -> all.merge(client, new ClientUse(units, units), ClientUse::plus));
    all.values().removeIf(use -> use.wanted() < least);
    return all;
  }

  /** Gives clients these shares, and all others the whole limit. */
  void restrict(Map<Client, Double> shares) {
    this.shares = Map.copyOf(shares);
  }

  /** Counts on this replica alone, until the next {@link #takeUse}. */
  void countAlone() {
    exchanged = false;
    wanted.clear();
    shares = Map.of();
  }
}

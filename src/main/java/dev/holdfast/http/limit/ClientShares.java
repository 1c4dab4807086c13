package dev.holdfast.http.limit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Limits what each client takes of something. Thread-safe. */
public final class ClientShares {

  private final long max;

  /** Holds only clients that have something, so it is no larger than what all of them have. */
  private final Map<ClientNetwork, Long> taken = new ConcurrentHashMap<>();

  /**
   * Creates shares.
   *
   * @param max of each client
   */
  public ClientShares(long max) {
    this.max = max;
  }

  /** Takes an amount unless that exceeds the client's share. */
  public boolean tryTake(ClientNetwork client, long amount) {
    if (taken.merge(client, amount, Long::sum) <= max) {
      return true;
    }
    giveBack(client, amount);
    return false;
  }

  /** Gives an amount back. */
  public void giveBack(ClientNetwork client, long amount) {
    taken.computeIfPresent(client, (_, before) -> before == amount ? null : before - amount);
  }

  int clients() {
    return taken.size();
  }
}

package dev.holdfast.http.limit;

import java.util.Map;

/** Tells other replicas what clients use, and hears of theirs. For one thread. */
public interface UseExchange {

  /**
   * Publishes what busy clients use here. It counts for other replicas until the next call, and for
   * some seconds if there is none.
   *
   * @param own uses on this replica. Each key names a client and a limit, is the same on all
   *     replicas, and has letters, digits, {@code -} and {@code _} only
   * @return what these use on all other replicas together, as far as that is known
   */
  Map<String, ClientUse> exchange(Map<String, ClientUse> own);
}

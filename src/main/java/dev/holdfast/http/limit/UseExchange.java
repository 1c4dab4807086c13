package dev.holdfast.http.limit;

import java.util.Map;

/** Tells other replicas what clients use, and hears of theirs. For one thread. */
public interface UseExchange {

  /**
   * Publishes what busy clients use here. It counts for other replicas until the next call, and for
   * some seconds if there is none.
   *
   * @param own what clients use on this replica. A key identifies a client and a limit, and is the
   *     same on all replicas. It consists of letters, digits, {@code -} and {@code _}
   * @return what these use on all other replicas together, as far as that is known
   */
  Map<String, ClientUse> exchange(Map<String, ClientUse> own);
}

package dev.holdfast.http.limit;

import dev.holdfast.budget.Shares;
import dev.holdfast.http.error.RequestRejectedException;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Limits the requests in progress: in all, per client, and per upstream, so that one client or a
 * slow upstream leaves room for the others. When a store or an upstream is slow, requests pile up,
 * each with a thread and a body. Above the limit, an immediate refusal is better for all clients. A
 * followed stream does not count as a request; {@link ConnectionLimit} limits streams. Thread-safe.
 */
public final class RequestLimit {

  private final int max;
  private final Semaphore all;
  private final Shares<ClientNetwork> clients;
  private final Map<String, Semaphore> byUpstream;

  /**
   * Creates a limit.
   *
   * @param max of all upstreams together
   * @param maxPerClient of each {@link ClientNetwork}
   * @param maxByUpstream by the name of the upstream
   */
  public RequestLimit(int max, int maxPerClient, Map<String, Integer> maxByUpstream) {
    this.max = max;
    all = new Semaphore(max);
    clients = new Shares<>(maxPerClient);
    byUpstream =
        maxByUpstream.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> new Semaphore(e.getValue())));
  }

  /** The number of requests of all upstreams together that are in progress. */
  public int used() {
    return max - all.availablePermits();
  }

  /**
   * Does the work of a request.
   *
   * @param upstream the name of the upstream; an unknown one has no limit of its own
   * @param address the client's
   * @throws RequestRejectedException when too many requests are in progress: with 429 those of the
   *     client, with 503 those of all
   */
  public <T> T within(String upstream, String address, Supplier<T> work) {
    ClientNetwork client = ClientNetwork.of(address);
    if (!clients.tryTake(client, 1)) {
      throw new RequestRejectedException(429, "Too many requests at once from this address");
    }
    try {
      Semaphore own = byUpstream.get(upstream);
      return own == null ? within(all, work) : within(own, () -> within(all, work));
    } finally {
      clients.giveBack(client, 1);
    }
  }

  private static <T> T within(Semaphore permits, Supplier<T> work) {
    if (!permits.tryAcquire()) {
      throw new RequestRejectedException(503, "Too many requests at once; try again");
    }
    try {
      return work.get();
    } finally {
      permits.release();
    }
  }
}

package dev.holdfast.http.limit;

import dev.holdfast.budget.Shares;
import dev.holdfast.http.error.RequestRejectedException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Limits the requests in progress: in all, per client, and per upstream, so that one client or a
 * slow upstream leaves room for the others. When a store or an upstream is slow, requests pile up,
 * each with a thread and a body. Above the limit, an immediate refusal is better for all clients. A
 * followed stream does not count as a request; {@link ConnectionLimit} limits streams. Thread-safe.
 */
public final class RequestLimit {

  private final IntSupplier max;
  private final AtomicInteger all = new AtomicInteger();
  private final Shares<ClientNetwork> clients;
  private final Function<String, OptionalInt> maxByUpstream;

  /** Requests in progress by the name of the upstream. Only upstreams with a limit are in it. */
  private final Map<String, AtomicInteger> byUpstream = new ConcurrentHashMap<>();

  /**
   * Creates a limit. Its numbers may change.
   *
   * @param max of all upstreams together
   * @param maxPerClient of each {@link ClientNetwork}
   * @param maxByUpstream by the name of the upstream; empty for one without a limit of its own
   */
  public RequestLimit(
      IntSupplier max, IntSupplier maxPerClient, Function<String, OptionalInt> maxByUpstream) {
    this.max = max;
    clients = new Shares<>(maxPerClient::getAsInt);
    this.maxByUpstream = maxByUpstream;
  }

  /** The number of requests that may be in progress. */
  public int max() {
    return max.getAsInt();
  }

  /** The number of requests of all upstreams together that are in progress. */
  public int used() {
    return all.get();
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
      OptionalInt most = maxByUpstream.apply(upstream);
      if (most.isEmpty()) {
        return within(all, max.getAsInt(), work);
      }
      AtomicInteger own = byUpstream.computeIfAbsent(upstream, _ -> new AtomicInteger());
      return within(own, most.getAsInt(), () -> within(all, max.getAsInt(), work));
    } finally {
      clients.giveBack(client, 1);
    }
  }

  private static <T> T within(AtomicInteger used, int most, Supplier<T> work) {
    try {
      if (used.incrementAndGet() > most) {
        throw new RequestRejectedException(503, "Too many requests at once; try again");
      }
      return work.get();
    } finally {
      used.decrementAndGet();
    }
  }
}

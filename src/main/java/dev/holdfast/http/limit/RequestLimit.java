package dev.holdfast.http.limit;

import dev.holdfast.http.error.RequestRejectedException;
import java.util.ArrayList;
import java.util.List;
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
 * followed stream does not count as a request; {@link ConnectionLimit} limits streams. Limits the
 * requests of a client per second, too. Thread-safe.
 */
public final class RequestLimit {

  private final IntSupplier max;
  private final AtomicInteger all = new AtomicInteger();
  private final ClientLimit clients;
  private final RequestRate rate;
  private final Function<String, OptionalInt> maxByUpstream;

  /** Requests in progress by the name of the upstream. */
  private final Map<String, AtomicInteger> byUpstream = new ConcurrentHashMap<>();

  /**
   * Creates a limit. Its numbers may change.
   *
   * @param max of all upstreams together
   * @param maxPerClient of each {@link Client}
   * @param perSecond of each client; empty for no limit
   * @param maxByUpstream by the name of the upstream; empty for one without a limit of its own
   */
  public RequestLimit(
      IntSupplier max,
      IntSupplier maxPerClient,
      Supplier<OptionalInt> perSecond,
      Function<String, OptionalInt> maxByUpstream) {
    this.max = max;
    clients = new ClientLimit("requests", maxPerClient);
    rate = new RequestRate(perSecond);
    this.maxByUpstream = maxByUpstream;
  }

  /** The limits of each client: on requests in progress, and per second. */
  public List<ClientLimit> perClient() {
    return List.of(clients, rate.perClient());
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
   * Admits a request. It counts for its address until it is told whose it is.
   *
   * @param upstream the name of the upstream; an unknown one has no limit of its own
   * @param sender the client at the address
   * @return the place of the request; closed at its end
   * @throws RequestRejectedException when too many requests are in progress: with 429 those of the
   *     client, with 503 those of all
   */
  public Place enter(String upstream, Client sender) {
    OptionalInt most = maxByUpstream.apply(upstream);
    Place place = new Place(sender);
    try {
      if (most.isPresent()) {
        place.count(counter(upstream), most.getAsInt());
      }
      place.count(all, max.getAsInt());
      return place;
    } catch (Throwable full) {
      place.close();
      throw full;
    }
  }

  /**
   * Counts a request to an upstream that has come to an endpoint for several.
   *
   * @param most the limit of the upstream; empty for none
   * @return false if the upstream has as many requests as it may have; none is counted then
   */
  public boolean tryEnter(String upstream, OptionalInt most) {
    if (counter(upstream).incrementAndGet() <= most.orElse(Integer.MAX_VALUE)) {
      return true;
    }
    leave(upstream);
    return false;
  }

  /** Ends a request that {@link #tryEnter} has counted. */
  public void leave(String upstream) {
    counter(upstream).decrementAndGet();
  }

  private AtomicInteger counter(String upstream) {
    return byUpstream.computeIfAbsent(upstream, _ -> new AtomicInteger());
  }

  /** A request in progress. For one thread. */
  public final class Place implements AutoCloseable {

    private final List<AtomicInteger> counted = new ArrayList<>(2);
    private Client client;

    private Place(Client client) {
      take(client);
      this.client = client;
    }

    private void take(Client by) {
      if (!clients.tryTake(by)) {
        throw new RequestRejectedException(429, "Too many requests at once from this client");
      }
    }

    private void count(AtomicInteger used, int most) {
      counted.add(used);
      if (used.incrementAndGet() > most) {
        throw new RequestRejectedException(503, "Too many requests at once; try again");
      }
    }

    /**
     * Counts the request for the client that has sent it.
     *
     * @throws RequestRejectedException with 429 when the client has too many requests in progress,
     *     or has sent too many in the last second
     */
    public void belongTo(Client owner) {
      if (!owner.equals(client)) {
        take(owner);
        clients.giveBack(client);
        client = owner;
      }
      if (!rate.tryTake(owner)) {
        throw new RequestRejectedException(429, "Too many requests per second from this client");
      }
    }

    /** Ends the request. */
    @Override
    public void close() {
      counted.forEach(AtomicInteger::decrementAndGet);
      clients.giveBack(client);
    }
  }
}

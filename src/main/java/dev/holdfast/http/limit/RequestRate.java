package dev.holdfast.http.limit;

import dev.holdfast.lock.LruMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the requests of each client per second. Each client has a bucket of tokens. The bucket
 * fills at the rate of the client's {@link ClientLimit#share}, and holds as many tokens as one
 * second brings, but at least one. Thread-safe.
 */
final class RequestRate {

  /** Clients that are counted. Beyond it, the one unused for longest begins with a full bucket. */
  static final int MAX_CLIENTS = 100_000;

  private static final double SECOND = 1e9;

  private final Supplier<OptionalInt> perSecond;
  private final ClientLimit limit;
  private final LongSupplier nanoTime;
  private final Map<Client, Bucket> buckets = LruMap.create(MAX_CLIENTS);

  /** A bucket after a request, and whether that request got a token. */
  private record Bucket(double tokens, long at, boolean taken) {}

  /**
   * Creates a limit.
   *
   * @param perSecond requests of each client; empty for no limit. May change
   */
  RequestRate(Supplier<OptionalInt> perSecond) {
    this(perSecond, System::nanoTime);
  }

  RequestRate(Supplier<OptionalInt> perSecond, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.limit = new ClientLimit("rate", () -> perSecond.get().orElse(Integer.MAX_VALUE));
    this.nanoTime = nanoTime;
  }

  /** Counts a request of a client unless that exceeds the limit. */
  boolean tryTake(Client client) {
    if (perSecond.get().isEmpty()) {
      return true;
    }
    limit.want(client);
    double share = limit.share(client);
    return buckets.compute(client, (_, before) -> next(before, share)).taken();
  }

  private Bucket next(@Nullable Bucket before, double share) {
    long now = nanoTime.getAsLong();
    double size = Math.max(1, share);
    double tokens =
        before == null ? size : Math.min(size, before.tokens + (now - before.at) * share / SECOND);
    boolean taken = tokens >= 1;
    return new Bucket(taken ? tokens - 1 : tokens, now, taken);
  }

  ClientLimit perClient() {
    return limit;
  }

  int clients() {
    return buckets.size();
  }
}

package dev.holdfast.http.limit;

import dev.holdfast.lock.LruMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the requests of each client per second. Each client has a bucket of tokens. The bucket
 * fills at that rate, and holds as many tokens as one second brings. Thread-safe.
 */
final class RequestRate {

  /** Clients that are counted. Beyond it, the one unused for longest begins with a full bucket. */
  static final int MAX_CLIENTS = 100_000;

  private static final double SECOND = 1e9;

  private final Supplier<OptionalInt> perSecond;
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
    this.nanoTime = nanoTime;
  }

  /** Counts a request of a client unless that exceeds the limit. */
  boolean tryTake(Client client) {
    OptionalInt perSecond = this.perSecond.get();
    if (perSecond.isEmpty()) {
      return true;
    }
    int most = perSecond.getAsInt();
    return buckets.compute(client, (_, before) -> next(before, most)).taken();
  }

  private Bucket next(@Nullable Bucket before, int most) {
    long now = nanoTime.getAsLong();
    double tokens =
        before == null ? most : Math.min(most, before.tokens + (now - before.at) * most / SECOND);
    boolean taken = tokens >= 1;
    return new Bucket(taken ? tokens - 1 : tokens, now, taken);
  }

  int clients() {
    return buckets.size();
  }
}

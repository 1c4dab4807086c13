package dev.holdfast.http.limit;

import dev.holdfast.lock.AutoLock;
import java.util.LinkedHashMap;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

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
  private final AutoLock lock = new AutoLock();

  /** By client, the one used last at the end. Guarded by the lock. */
  private final SequencedMap<Client, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);

  private record Bucket(double tokens, long at) {}

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
    OptionalInt most = perSecond.get();
    return most.isEmpty() || tryTake(client, most.getAsInt());
  }

  private boolean tryTake(Client client, int most) {
    try (var _ = lock.hold()) {
      long now = nanoTime.getAsLong();
      Bucket before = buckets.get(client);
      double tokens =
          before == null
              ? most
              : Math.min(most, before.tokens() + (now - before.at()) * most / SECOND);
      boolean taken = tokens >= 1;
      buckets.put(client, new Bucket(taken ? tokens - 1 : tokens, now));
      if (buckets.size() > MAX_CLIENTS) {
        var _ = buckets.pollFirstEntry();
      }
      return taken;
    }
  }

  int clients() {
    try (var _ = lock.hold()) {
      return buckets.size();
    }
  }
}

package dev.holdfast.budget;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import java.util.function.ToLongFunction;

/** Limits what each user of type {@code U} takes of something. Thread-safe. */
public final class Shares<U> {

  private final ToLongFunction<U> max;

  /** Holds only users that have something, so it is no larger than what all of them have. */
  private final Map<U, Long> taken = new ConcurrentHashMap<>();

  /** Creates shares of a fixed size. */
  public Shares(long max) {
    this(() -> max);
  }

  /** Creates shares of a size that may change. */
  public Shares(LongSupplier max) {
    this((U _) -> max.getAsLong());
  }

  /** Creates shares of a size that differs between users and may change. */
  public Shares(ToLongFunction<U> max) {
    this.max = max;
  }

  /** Takes an amount unless that exceeds the user's share. */
  public boolean tryTake(U user, long amount) {
    if (taken.merge(user, amount, Long::sum) <= max.applyAsLong(user)) {
      return true;
    }
    giveBack(user, amount);
    return false;
  }

  /** Gives an amount back. */
  public void giveBack(U user, long amount) {
    taken.computeIfPresent(user, (_, before) -> before == amount ? null : before - amount);
  }

  /** Visits what each user has, while it may change. */
  public void forEach(ObjLongConsumer<U> visitor) {
    taken.forEach(visitor::accept);
  }

  /** The number of users that have something. */
  public int size() {
    return taken.size();
  }
}

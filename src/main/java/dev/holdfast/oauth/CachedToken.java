package dev.holdfast.oauth;

import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A token that many requests use. One thread at a time gets a new one, when four fifths of its
 * lifetime are over. If that fails, the token stays in use until it ends.
 */
public final class CachedToken {

  /** After a failure, requests fail with it for this time. */
  private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private record Current(AccessToken token, long renewAt, long endsAt) {}

  private final Supplier<AccessToken> source;
  private final LongSupplier nanoTime;
  private final AutoLock renewal = new AutoLock();

  private volatile @Nullable Current current;

  // Guarded by the lock.
  private @Nullable TokenException failure;
  private long failedAt;

  /**
   * Requests nothing yet.
   *
   * @param source gets a new token, or throws {@link TokenException}
   */
  public CachedToken(Supplier<AccessToken> source, LongSupplier nanoTime) {
    this.source = source;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns the token, and gets one if need be.
   *
   * @throws TokenException if there is none
   */
  public AccessToken get() {
    Current found = current;
    long now = nanoTime.getAsLong();
    if (found != null && now - found.renewAt < 0) {
      return found.token;
    }
    if (found != null && now - found.endsAt < 0) {
      return renewal.tryLock() ? renewed() : found.token;
    }
    renewal.lock();
    return renewed();
  }

  /** Gets no such token again: the server has refused it. */
  public void forget(String refused) {
    if (is(refused)) {
      try (var _ = renewal.hold()) {
        current = is(refused) ? null : current;
      }
    }
  }

  private boolean is(String value) {
    Current found = current;
    return found != null && found.token.value().equals(value);
  }

  /** With the lock, which it frees. Another thread may have renewed the token in between. */
  private AccessToken renewed() {
    try {
      Current found = current;
      long now = nanoTime.getAsLong();
      if (found != null && now - found.renewAt < 0) {
        return found.token;
      }
      try {
        if (failure != null && now - failedAt < PAUSE_NANOS) {
          throw failure;
        }
        AccessToken token = source.get();
        long lifetime = token.lifetime().toNanos();
        current = new Current(token, now + lifetime / 5 * 4, now + lifetime);
        failure = null;
        return token;
      } catch (TokenException failed) {
        if (failed != failure) {
          failure = failed;
          failedAt = nanoTime.getAsLong();
        }
        if (found != null && now - found.endsAt < 0) {
          return found.token;
        }
        throw failed;
      }
    } finally {
      renewal.unlock();
    }
  }
}

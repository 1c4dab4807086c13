package dev.holdfast.upstream.local.server;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Has the level ALERT for every session, until it fails as Redis does during an outage. */
public final class UnreliableLogLevelStore implements LogLevelStore {

  private final AtomicInteger reads = new AtomicInteger();
  private volatile @Nullable Duration failureDelay;

  /** Fails from now on, each time after a delay. */
  public void fail(Duration delay) {
    failureDelay = delay;
  }

  int reads() {
    return reads.get();
  }

  @Override
  public void put(String session, LogLevel level) {
    failIfTold();
  }

  @Override
  public Optional<LogLevel> find(String session) {
    reads.incrementAndGet();
    failIfTold();
    return Optional.of(LogLevel.ALERT);
  }

  private void failIfTold() {
    Duration delay = failureDelay;
    if (delay != null) {
      LockSupport.parkNanos(delay.toNanos());
      throw new UpstreamException.Broken("failing", null);
    }
  }

  @Override
  public void remove(String session) {}
}

package dev.holdfast.relay.stream;

import java.util.concurrent.atomic.AtomicInteger;

/** Admits requests until this replica drains, and counts those in progress. Thread-safe. */
public final class Admission {

  private final AtomicInteger inProgress = new AtomicInteger();
  private final Pass pass = inProgress::decrementAndGet;
  private volatile boolean draining;
  private volatile boolean closed;

  /** An admitted request. Closing it ends the request. */
  @FunctionalInterface
  public interface Pass extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Admits a request.
   *
   * @throws RelayException.Draining when this replica admits no more
   */
  public Pass enter() {
    // Counts before it looks: either close() sees this request, or the request sees close().
    inProgress.incrementAndGet();
    if (closed) {
      pass.close();
      throw new RelayException.Draining();
    }
    return pass;
  }

  /**
   * Admits work that another replica can do as well.
   *
   * @throws RelayException.Draining as soon as draining has begun
   */
  public Pass enterIfNotDraining() {
    if (draining) {
      throw new RelayException.Draining();
    }
    return enter();
  }

  /** Begins to drain: clients should go elsewhere, but this replica still admits them. */
  public void drain() {
    draining = true;
  }

  /** Admits no more requests. Clients may still resume their streams. */
  public void close() {
    closed = true;
    draining = true;
  }

  /** Returns true if draining has begun. Requests may still be admitted. */
  public boolean isDraining() {
    return draining;
  }

  /** Returns true if an admitted request is still in progress. */
  public boolean isBusy() {
    return inProgress.get() > 0;
  }
}

package dev.holdfast.relay.stream;

import dev.holdfast.log.StreamRef;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Lets new requests and streams in until this replica drains, and knows whether any is still on its
 * way. Thread-safe.
 */
public final class Admission {

  private final AtomicInteger underWay = new AtomicInteger();
  private final Pass pass = underWay::decrementAndGet;
  private volatile Predicate<StreamRef> ended = stream -> false;
  private volatile boolean closing;
  private volatile boolean closed;

  /** Somebody who was let in, until closed. */
  @FunctionalInterface
  public interface Pass extends AutoCloseable {
    @Override
    public void close();
  }

  /**
   * Lets one in.
   *
   * @throws RelayException.Draining when no more are
   */
  public Pass enter() {
    // Counted before the look: whoever closes sees this one, or this one sees that it is closed.
    underWay.incrementAndGet();
    if (closed) {
      pass.close();
      throw new RelayException.Draining();
    }
    return pass;
  }

  /**
   * Lets one in who need not come here.
   *
   * @throws RelayException.Draining as soon as new ones had better go elsewhere
   */
  public Pass enterByChoice() {
    if (closing) {
      throw new RelayException.Draining();
    }
    return enter();
  }

  /**
   * Checks that a stream is still served to those that come back to it.
   *
   * @throws RelayException.Draining when it is not
   */
  public void check(StreamRef stream) {
    if (ended.test(stream)) {
      throw new RelayException.Draining();
    }
  }

  /** Says that nobody new is to come, and lets those in who have not heard of it yet. */
  public void closeSoon() {
    closing = true;
  }

  /**
   * Lets nobody new in any more.
   *
   * @param which the streams that those who come back are not let in to either
   */
  public void close(Predicate<StreamRef> which) {
    ended = which;
    closed = true;
    closing = true;
  }

  /** Whether new ones had better go elsewhere, be they still let in or not. */
  public boolean isClosing() {
    return closing;
  }

  /** Whether somebody who was let in is still on the way. */
  public boolean isBusy() {
    return underWay.get() > 0;
  }
}

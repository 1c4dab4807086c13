package dev.holdfast.relay.pump;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.LogFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** A writer whose store is away, and whose stream has a client here, when a test wants it. */
final class UnavailableWriter implements StreamWriter {

  final List<NewEvent> stored = new CopyOnWriteArrayList<>();
  final List<NewEvent> passed = new CopyOnWriteArrayList<>();
  final AtomicInteger attempts = new AtomicInteger();

  /** The appends that no thread waits for. */
  final List<Consumer<Boolean>> later = new CopyOnWriteArrayList<>();

  /** The number of unlogged events that the store knows about. */
  final AtomicInteger told = new AtomicInteger();

  volatile boolean away;

  /** Whether the store refuses events, and takes notice of what it has missed. */
  volatile boolean full;

  /** How long the next append takes, which then fails; zero for none. */
  volatile Duration frozen = Duration.ZERO;

  volatile boolean attached = true;
  volatile boolean fenced;

  /** Whether the next {@link #recordSkipped} fails unexpectedly. */
  volatile boolean failsOnce;

  private void touch() {
    if (fenced) {
      throw new LogException.Fenced(stream());
    }
    if (away) {
      throw new LogException.StoreUnavailable("the store is away", null);
    }
  }

  @Override
  public StreamRef stream() {
    return LogFixture.ref("s");
  }

  @Override
  public Position append(List<NewEvent> events) {
    attempts.incrementAndGet();
    touch();
    if (frozen.isPositive()) {
      LockSupport.parkNanos(frozen.toNanos());
      frozen = Duration.ZERO;
      throw new LogException.OutcomeUnknown("no reply in time", null);
    }
    if (full) {
      throw new LogException.StoreUnavailable("the store is full", null);
    }
    stored.addAll(events);
    return new Position(1, stored.size() + passed.size());
  }

  /** Leaves the end of the append to the test. */
  @Override
  public boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    later.add(then);
    return true;
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    if (fenced) {
      throw new LogException.Fenced(stream());
    }
    return attached && passed.addAll(events);
  }

  @Override
  public void recordSkipped() {
    if (failsOnce) {
      failsOnce = false;
      throw new IllegalStateException("planted");
    }
    touch();
    told.set(passed.size());
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    // Not used here.
  }
}

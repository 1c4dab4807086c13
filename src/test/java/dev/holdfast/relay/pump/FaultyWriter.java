package dev.holdfast.relay.pump;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A real writer whose store fails before or after the write. As with a real store, an append that
 * is repeated after an unknown outcome writes its events once. For one thread.
 */
final class FaultyWriter implements StreamWriter {

  private final StreamWriter target;
  private final Queue<Fault> faults = new ArrayDeque<>();
  private @Nullable List<NewEvent> written;
  private @Nullable Position position;

  private record Fault(boolean afterWrite, @Nullable Supplier<? extends Throwable> failure) {}

  FaultyWriter(StreamWriter target) {
    this.target = target;
  }

  /** Lets one more append fail before it writes. */
  FaultyWriter failBefore(Supplier<? extends Throwable> failure) {
    faults.add(new Fault(false, failure));
    return this;
  }

  /** Lets one more append write and then fail. */
  FaultyWriter failAfter(Supplier<? extends Throwable> failure) {
    faults.add(new Fault(true, failure));
    return this;
  }

  /** Lets one more append succeed. */
  FaultyWriter succeed() {
    faults.add(new Fault(true, null));
    return this;
  }

  @Override
  public StreamRef stream() {
    return target.stream();
  }

  @Override
  public Position append(List<NewEvent> events) {
    Fault fault = faults.poll();
    if (fault == null) {
      return write(events);
    }
    Position result = fault.afterWrite() ? write(events) : Position.START;
    if (fault.failure() != null) {
      switch (fault.failure().get()) {
        case Error error -> throw error;
        case Throwable failure -> throw (RuntimeException) failure;
      }
    }
    return result;
  }

  /** Appends before it returns, with the next fault. */
  @Override
  public boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    boolean written = false;
    try {
      var _ = append(events);
      written = true;
    } catch (LogException failed) {
      written = false;
    }
    then.accept(written);
    return true;
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    return target.deliverUnlogged(events);
  }

  @Override
  public void recordSkipped() {
    target.recordSkipped();
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    target.recordUpstreamCursor(upstreamId);
  }

  private Position write(List<NewEvent> events) {
    if (position == null || !events.equals(written)) {
      position = target.append(events);
      written = List.copyOf(events);
    }
    return position;
  }
}

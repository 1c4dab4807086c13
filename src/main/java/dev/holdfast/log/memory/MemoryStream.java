package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One stream. Its lock guards every mutable field. A thread that holds this lock may take the lock
 * of the shared stream that keeps the events.
 */
final class MemoryStream implements StoredEvent.Owner {

  /** Handles the end of a stream. The caller may hold the stream's lock. */
  interface Listener {
    /** The stream takes no more events. */
    void completed();

    /** The stream has no events any more. */
    void discarded(MemoryStream stream);
  }

  private enum State {
    OPEN,
    COMPLETE,
    /** The session has ended or the stream has expired. No events are left. */
    DISCARDED
  }

  private final StreamRef ref;
  private final Listener listener;
  private final Retention retention;
  private final MemoryBudget budget;
  private final InstantSource clock;

  /** The stream that keeps the events; null if this one does. */
  private final @Nullable MemoryStream shared;

  private final ReentrantLock lock = new ReentrantLock();
  private final EventWindow kept = new EventWindow();
  private Position last = Position.START;
  private Position delivered = Position.START;
  private State state = State.OPEN;

  /** When a complete stream is discarded, in milliseconds since the epoch. */
  private long expires = Long.MAX_VALUE;

  MemoryStream(
      StreamRef ref,
      Listener listener,
      Retention retention,
      MemoryBudget budget,
      InstantSource clock,
      @Nullable MemoryStream shared) {
    this.ref = ref;
    this.listener = listener;
    this.retention = retention;
    this.budget = budget;
    this.clock = clock;
    this.shared = shared;
  }

  StreamRef ref() {
    return ref;
  }

  StreamRef keptIn() {
    return shared == null ? ref : shared.ref;
  }

  Position append(List<NewEvent> events) {
    lock.lock();
    try {
      if (state != State.OPEN) {
        throw new LogException.Fenced(ref);
      }
      if (shared != null) {
        return appendTo(shared, events);
      }
      long now = clock.millis();
      store(events, Math.max(now, last.millis()));
      purgeOld(now);
      if (events.getLast().last()) {
        state = State.COMPLETE;
        expires = now + retention.eventTtl().toMillis();
        listener.completed();
      }
      return last;
    } finally {
      lock.unlock();
    }
  }

  private Position appendTo(MemoryStream sharedStream, List<NewEvent> events) {
    List<NewEvent> payloads =
        events.stream()
            .filter(event -> event.payload().length > 0)
            .map(event -> new NewEvent(event.payload(), event.upstreamId(), false))
            .toList();
    if (!payloads.isEmpty()) {
      var _ = sharedStream.append(payloads);
    }
    last = new Position(0, last.number() + events.size());
    if (events.getLast().last()) {
      discard();
      listener.completed();
    }
    return last;
  }

  private void store(List<NewEvent> events, long millis) {
    List<StoredEvent> added = new ArrayList<>(events.size());
    for (NewEvent event : events) {
      last = new Position(millis, last.number() + 1);
      StoredEvent stored =
          new StoredEvent(
              this, new LogEvent(last, event.payload(), event.upstreamId(), event.last()));
      kept.add(stored);
      added.add(stored);
    }
    budget.add(added);
  }

  private void purgeOld(long now) {
    long oldest = now - retention.eventTtl().toMillis();
    while (kept.size() > retention.maxEvents()
        || (!kept.isEmpty() && kept.get(0).event().position().millis() <= oldest)) {
      budget.release(kept.purge());
    }
  }

  @Override
  public void purgeThrough(long number) {
    lock.lock();
    try {
      while (!kept.isEmpty() && kept.get(0).number() <= number) {
        budget.release(kept.purge());
      }
      discardIfEmpty();
    } finally {
      lock.unlock();
    }
  }

  void sweep() {
    lock.lock();
    try {
      long now = clock.millis();
      if (now >= expires) {
        discard();
      } else {
        purgeOld(now);
        discardIfEmpty();
      }
    } finally {
      lock.unlock();
    }
  }

  private void discardIfEmpty() {
    if (state == State.COMPLETE && kept.isEmpty()) {
      discard();
    }
  }

  /** Removes all events. Later appends are fenced. */
  void discard() {
    lock.lock();
    try {
      state = State.DISCARDED;
      while (!kept.isEmpty()) {
        budget.release(kept.purge());
      }
    } finally {
      lock.unlock();
    }
    listener.discarded(this);
  }

  ReadResult read(Position after, int maxEvents) {
    lock.lock();
    try {
      if (state == State.DISCARDED || clock.millis() >= expires) {
        return new ReadResult.NoSuchStream();
      }
      long next = after.number() + 1;
      long oldest = last.number() - kept.size() + 1;
      if (next < oldest || isForeign(after, oldest)) {
        return kept.isEmpty()
            ? new ReadResult.Gap(null, last)
            : new ReadResult.Gap(kept.get(0).event().position());
      }
      if (next > last.number() && state == State.COMPLETE) {
        return new ReadResult.EndOfStream();
      }
      return page((int) (next - oldest), maxEvents);
    } finally {
      lock.unlock();
    }
  }

  /** Whether the cursor is ahead of the log, or its time differs from that of its event. */
  private boolean isForeign(Position after, long oldest) {
    if (after.number() > last.number()) {
      return true;
    }
    if (after.number() == 0) {
      return false;
    }
    if (after.number() == last.number()) {
      return !after.equals(last);
    }
    return after.number() >= oldest
        && !after.equals(kept.get((int) (after.number() - oldest)).event().position());
  }

  private ReadResult page(int from, int maxEvents) {
    int count = Math.min(maxEvents, kept.size() - from);
    List<LogEvent> events = new ArrayList<>(count);
    for (int i = from; i < from + count; i++) {
      events.add(kept.get(i).event());
    }
    return new ReadResult.Events(events);
  }

  Optional<Position> beforeOldest() {
    lock.lock();
    try {
      if (kept.isEmpty()) {
        return state == State.OPEN ? Optional.of(last) : Optional.empty();
      }
      Position oldest = kept.get(0).event().position();
      return Optional.of(new Position(oldest.millis(), oldest.number() - 1));
    } finally {
      lock.unlock();
    }
  }

  void markDelivered(Position position) {
    lock.lock();
    try {
      if (position.compareTo(delivered) > 0) {
        delivered = position;
      }
    } finally {
      lock.unlock();
    }
  }

  Position delivered() {
    lock.lock();
    try {
      return delivered;
    } finally {
      lock.unlock();
    }
  }

  void markFullyDelivered() {
    lock.lock();
    try {
      if (state == State.COMPLETE) {
        expires = Math.min(expires, clock.millis() + retention.completedTtl().toMillis());
      }
    } finally {
      lock.unlock();
    }
  }
}

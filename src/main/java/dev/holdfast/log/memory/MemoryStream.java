package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One stream with its events. The lock of its session guards all of its state. */
final class MemoryStream {

  /** Estimated bytes of the objects around a payload. */
  static final int OVERHEAD = 128;

  private enum State {
    OPEN,
    COMPLETE,
    /** The session has ended or the stream has expired. No events are left. */
    DISCARDED
  }

  private final StreamRef ref;

  /** The stream that keeps the events; null if this one does. */
  private final @Nullable MemoryStream shared;

  private final EventWindow kept = new EventWindow();
  private long bytes;
  private Position last = Position.START;
  private Position delivered = Position.START;
  private State state = State.OPEN;

  /** When a complete stream is discarded, in milliseconds since the epoch. */
  private long expires = Long.MAX_VALUE;

  MemoryStream(StreamRef ref, @Nullable MemoryStream shared) {
    this.ref = ref;
    this.shared = shared;
  }

  /** An event in memory. Compared by identity, since equal events can be stored twice. */
  static final class Stored {

    private final MemoryStream stream;
    private final LogEvent event;

    private Stored(MemoryStream stream, LogEvent event) {
      this.stream = stream;
      this.event = event;
    }

    MemoryStream stream() {
      return stream;
    }

    /** Estimated bytes of memory. */
    long bytes() {
      String upstreamId = event.upstreamId();
      return (long) OVERHEAD
          + event.payload().length
          + (upstreamId == null ? 0 : upstreamId.length());
    }
  }

  StreamRef ref() {
    return ref;
  }

  /** The stream that keeps the events. */
  MemoryStream keeper() {
    return shared == null ? this : shared;
  }

  int size() {
    return kept.size();
  }

  long bytes() {
    return bytes;
  }

  void requireOpen() {
    if (state != State.OPEN || keeper().state != State.OPEN) {
      throw new LogException.Fenced(ref);
    }
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  /** Whether a complete stream is no longer kept. */
  boolean isExpired(long now) {
    return now >= expires;
  }

  /** Whether the oldest event was written at a time or before. */
  boolean isOlderThan(long millis) {
    return !kept.isEmpty() && kept.get(0).event.position().millis() <= millis;
  }

  /** Adds the next event. */
  Stored add(NewEvent event, long now) {
    last = new Position(Math.max(now, last.millis()), last.number() + 1);
    Stored stored =
        new Stored(this, new LogEvent(last, event.payload(), event.upstreamId(), event.last()));
    kept.add(stored);
    bytes += stored.bytes();
    return stored;
  }

  /** Counts events that the shared stream keeps. Returns the number as a position. */
  Position count(int events) {
    last = new Position(0, last.number() + events);
    return last;
  }

  Position last() {
    return last;
  }

  void complete(long expiry) {
    state = State.COMPLETE;
    expires = expiry;
  }

  /** Accepts no more events. */
  void discard() {
    state = State.DISCARDED;
  }

  /** Removes and returns the oldest event. */
  Stored purge() {
    Stored oldest = kept.purge();
    bytes -= oldest.bytes();
    return oldest;
  }

  ReadResult read(Position after, int maxEvents, long maxBytes) {
    long next = after.number() + 1;
    long oldest = last.number() - kept.size() + 1;
    if (next < oldest || isForeign(after, oldest)) {
      return kept.isEmpty()
          ? new ReadResult.Gap(null, last)
          : new ReadResult.Gap(kept.get(0).event.position());
    }
    if (next > last.number() && state == State.COMPLETE) {
      return new ReadResult.EndOfStream();
    }
    return page((int) (next - oldest), maxEvents, maxBytes);
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
        && !after.equals(kept.get((int) (after.number() - oldest)).event.position());
  }

  private ReadResult page(int from, int maxEvents, long maxBytes) {
    List<LogEvent> events = new ArrayList<>();
    long room = maxBytes;
    for (int i = from; i < kept.size() && events.size() < maxEvents; i++) {
      LogEvent event = kept.get(i).event;
      room -= event.payload().length;
      if (room < 0 && !events.isEmpty()) {
        break;
      }
      events.add(event);
    }
    return new ReadResult.Events(events);
  }

  Optional<Position> beforeOldest() {
    if (kept.isEmpty()) {
      return state == State.OPEN ? Optional.of(last) : Optional.empty();
    }
    Position oldest = kept.get(0).event.position();
    return Optional.of(new Position(oldest.millis(), oldest.number() - 1));
  }

  Position delivered() {
    return delivered;
  }

  void markDelivered(Position position) {
    if (position.compareTo(delivered) > 0) {
      delivered = position;
    }
  }

  void markFullyDelivered(long expiry) {
    if (state == State.COMPLETE) {
      expires = Math.min(expires, expiry);
    }
  }

  /** The stored events of one stream: appended at one end, purged at the other, read by index. */
  private static final class EventWindow {

    /** The list is compacted when at least this many entries, and more than half, are purged. */
    private static final int COMPACT_AT = 32;

    private final List<Stored> entries = new ArrayList<>(0);
    private int purged;

    int size() {
      return entries.size() - purged;
    }

    boolean isEmpty() {
      return size() == 0;
    }

    Stored get(int index) {
      return entries.get(purged + index);
    }

    void add(Stored stored) {
      entries.add(stored);
    }

    /** Removes and returns the oldest event. */
    Stored purge() {
      Stored oldest = entries.get(purged);
      // Overwrite the entry, so the garbage collector can free the purged payload at once.
      entries.set(purged, entries.getLast());
      purged++;
      if (purged == entries.size() || (purged >= COMPACT_AT && purged > entries.size() / 2)) {
        entries.subList(0, purged).clear();
        purged = 0;
      }
      return oldest;
    }
  }
}

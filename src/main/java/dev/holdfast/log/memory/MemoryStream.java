package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One stream with its events. The lock of its session guards all of its state. */
final class MemoryStream {

  /** Owner of all open streams: there is one replica. */
  private static final String OWNER = "memory";

  /** Estimated bytes of the objects around a payload. */
  static final int OVERHEAD = 128;

  private enum State {
    OPEN,
    COMPLETE,
    /** The session has ended or the stream has expired. No events are left. */
    DISCARDED
  }

  private final StreamRef ref;

  /** The ids of the requests that this stream answers. */
  private final String requests;

  /** The stream that keeps the events; null if this one does. */
  private final @Nullable MemoryStream shared;

  /** The events by their numbers, which have no gaps. */
  private final NavigableMap<Long, Stored> kept = new TreeMap<>();

  private long bytes;
  private Position last = Position.START;
  private Position delivered = Position.START;
  private State state = State.OPEN;

  /** When a complete stream is discarded, in milliseconds since the epoch. */
  private long expires = Long.MAX_VALUE;

  MemoryStream(StreamRef ref, String requests, @Nullable MemoryStream shared) {
    this.ref = ref;
    this.requests = requests;
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

  /** The ids of the requests that this stream answers; empty when it is complete. */
  String openRequests() {
    return state == State.OPEN ? requests : "";
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

  /** When a complete stream expires, in milliseconds since the epoch. */
  long expires() {
    return expires;
  }

  StreamIndex.Entry entry() {
    Position first = kept.isEmpty() ? Position.START : oldest();
    return new StreamIndex.Entry(ref, isOpen() ? OWNER : null, first, last, kept.size());
  }

  /** Whether a complete stream is no longer kept. */
  boolean isExpired(long now) {
    return now >= expires;
  }

  /** Whether the oldest event was written at a time or before. */
  boolean isOlderThan(long millis) {
    return !kept.isEmpty() && oldest().millis() <= millis;
  }

  private Position oldest() {
    return kept.firstEntry().getValue().event.position();
  }

  /** Adds the next event. */
  Stored add(NewEvent event, long now) {
    last = new Position(Math.max(now, last.millis()), last.number() + 1);
    Stored stored =
        new Stored(this, new LogEvent(last, event.payload(), event.upstreamId(), event.last()));
    kept.put(last.number(), stored);
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
    Stored oldest = kept.pollFirstEntry().getValue();
    bytes -= oldest.bytes();
    return oldest;
  }

  ReadResult read(Position after, int maxEvents, long maxBytes) {
    if (after.number() < last.number() - kept.size() || isForeign(after)) {
      return kept.isEmpty() ? new ReadResult.Gap(null, last) : new ReadResult.Gap(oldest());
    }
    if (after.number() == last.number() && state == State.COMPLETE) {
      return new ReadResult.EndOfStream();
    }
    return page(after, maxEvents, maxBytes);
  }

  /** Whether the cursor is ahead of the log, or its time differs from that of its event. */
  private boolean isForeign(Position after) {
    if (after.number() == 0) {
      return false;
    }
    if (after.number() >= last.number()) {
      return !after.equals(last);
    }
    Stored event = kept.get(after.number());
    return event != null && !after.equals(event.event.position());
  }

  private ReadResult page(Position after, int maxEvents, long maxBytes) {
    List<LogEvent> events = new ArrayList<>();
    long room = maxBytes;
    for (Stored stored : kept.tailMap(after.number(), false).values()) {
      room -= stored.event.payload().length;
      if (events.size() == maxEvents || (room < 0 && !events.isEmpty())) {
        break;
      }
      events.add(stored.event);
    }
    return new ReadResult.Events(events);
  }

  Optional<Position> beforeOldest() {
    if (kept.isEmpty()) {
      return state == State.OPEN ? Optional.of(last) : Optional.empty();
    }
    Position oldest = oldest();
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
}

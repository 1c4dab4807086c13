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
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One stream with its events. The lock of its session guards all of its state. */
final class MemoryStream {

  /** Owner of all open streams: there is one replica. */
  private static final String OWNER = "memory";

  /** Estimated bytes of the objects around a payload. */
  static final int OVERHEAD = 128;

  /** Estimated bytes of the objects of a stream that has events. */
  static final int STREAM_OVERHEAD = 256;

  private enum State {
    OPEN,
    COMPLETE,
    /** The session has ended or the stream has expired. No events are left. */
    DISCARDED
  }

  private final StreamRef ref;

  /** The ids of the requests that this stream answers; empty when it is complete. */
  private String requests;

  /** The stream that keeps the events; null if this one does. */
  private final @Nullable MemoryStream shared;

  /** The events, whose numbers have no gaps. The first ones are null: they were purged. */
  private final List<@Nullable Stored> kept = new ArrayList<>(1);

  private int purged;
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

  /**
   * An event in memory, in one object: there are many. Compared by identity, since equal events can
   * be stored twice.
   */
  static final class Stored {

    private final MemoryStream stream;
    private final long millis;
    private final long number;
    private final byte[] payload;
    private final @Nullable String upstreamId;
    private final boolean last;

    private Stored(MemoryStream stream, Position position, NewEvent event) {
      this.stream = stream;
      this.millis = position.millis();
      this.number = position.number();
      this.payload = event.payload();
      this.upstreamId = event.upstreamId();
      this.last = event.last();
    }

    MemoryStream stream() {
      return stream;
    }

    private long bytes() {
      return (long) OVERHEAD + payload.length + (upstreamId == null ? 0 : upstreamId.length());
    }

    private Position position() {
      return new Position(millis, number);
    }

    private LogEvent event() {
      return new LogEvent(position(), payload, upstreamId, last);
    }
  }

  StreamRef ref() {
    return ref;
  }

  /** The ids of the requests that this stream answers; empty when it is complete. */
  String openRequests() {
    return requests;
  }

  /** The stream that keeps the events. */
  MemoryStream keeper() {
    return shared == null ? this : shared;
  }

  int size() {
    return kept.size() - purged;
  }

  /** Estimated bytes of memory. */
  long bytes() {
    return size() == 0 ? 0 : bytes + STREAM_OVERHEAD;
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
    Position first = size() == 0 ? Position.START : oldest().position();
    return new StreamIndex.Entry(ref, isOpen() ? OWNER : null, first, last, size());
  }

  /** Whether a complete stream is no longer kept. */
  boolean isExpired(long now) {
    return now >= expires;
  }

  /** Whether the oldest event was written at a time or before. */
  boolean isOlderThan(long millis) {
    return size() > 0 && oldest().millis <= millis;
  }

  private Stored oldest() {
    return at(purged);
  }

  private Stored at(int index) {
    return Objects.requireNonNull(kept.get(index));
  }

  /** Adds the next event. */
  Stored add(NewEvent event, long now) {
    last = new Position(Math.max(now, last.millis()), last.number() + 1);
    Stored stored = new Stored(this, last, event);
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
    requests = "";
    expires = expiry;
  }

  /** Accepts no more events. */
  void discard() {
    state = State.DISCARDED;
    requests = "";
  }

  /** Removes and returns the oldest event. */
  Stored purge() {
    Stored oldest = oldest();
    bytes -= oldest.bytes();
    kept.set(purged++, null);
    if (purged > kept.size() / 2) {
      kept.subList(0, purged).clear();
      purged = 0;
    }
    return oldest;
  }

  ReadResult read(Position after, int maxEvents, long maxBytes) {
    if (after.number() < last.number() - size() || isForeign(after)) {
      return size() == 0 ? new ReadResult.Gap(null, last) : new ReadResult.Gap(oldest().position());
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
    int index = indexAfter(after) - 1;
    return index >= purged && !after.equals(at(index).position());
  }

  /** The index of the event after a position. */
  private int indexAfter(Position position) {
    return kept.size() - (int) (last.number() - position.number());
  }

  private ReadResult page(Position after, int maxEvents, long maxBytes) {
    List<LogEvent> events = new ArrayList<>();
    long room = maxBytes;
    for (int index = indexAfter(after); index < kept.size(); index++) {
      LogEvent event = at(index).event();
      room -= event.payload().length;
      if (events.size() == maxEvents || (room < 0 && !events.isEmpty())) {
        break;
      }
      events.add(event);
    }
    return new ReadResult.Events(events);
  }

  Optional<Position> beforeOldest() {
    if (size() == 0) {
      return state == State.OPEN ? Optional.of(last) : Optional.empty();
    }
    Position oldest = oldest().position();
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

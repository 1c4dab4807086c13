package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One stream with its events. The lock of its session guards all of its state. */
final class MemoryStream {

  /** Owner of all open streams: there is one replica. */
  private static final String OWNER = "memory";

  /** Estimated bytes of the objects of a stream that has events, with its opening. */
  static final int STREAM_OVERHEAD = 416;

  /** No reader: readers have positive numbers. */
  static final long NOBODY = 0;

  /** Kinds of the oldest event, of those that may go. */
  enum Oldest {
    /** An event that its client was sent. */
    DELIVERED,
    /** An event that more follow, while no client is connected. */
    NOTIFICATION,
    /** The last event, while no client is connected. */
    RESULT,
    /** Nothing: it has no event, or a connected client does not have the oldest one. */
    NOTHING
  }

  /** Places where a session keeps its streams. */
  enum Place {
    /** For streams that are open or followed. */
    ACTIVE,
    /** For complete streams that were delivered to their end. */
    DELIVERED,
    /** For complete streams that nobody has read to the end. */
    UNDELIVERED,
    /** For those of which only the last event is left. */
    RESULT
  }

  private enum State {
    OPEN,
    COMPLETE,
    /** The session has ended or the stream has expired. No events are left. */
    DISCARDED
  }

  private final StreamRef ref;

  /** The ids of the requests that this stream answers; empty when it is complete. */
  private String requests;

  private final StreamIndex.@Nullable Opening opening;

  /** The stream that keeps the events; null if this one does. */
  private final @Nullable MemoryStream shared;

  /** The events, whose numbers have no gaps. The first ones are null: they were purged. */
  private List<@Nullable StoredEvent> kept = new ArrayList<>(1);

  private int purged;
  private long bytes;
  private Position last = Position.START;
  private Position delivered = Position.START;
  private State state = State.OPEN;

  /** True if a client was sent all of a complete stream. */
  private boolean deliveredToEnd;

  /** The number of the connected reader, or {@link #NOBODY}. */
  private long reader = NOBODY;

  /** Until then, the first reader may still come, in milliseconds since the epoch. */
  private long readerExpectedUntil;

  /** Null in a complete stream, and if another stream keeps the events. */
  private @Nullable ReaderWindow window;

  /** Time at which a complete stream is discarded, in milliseconds since the epoch. */
  private long expires = Long.MAX_VALUE;

  MemoryStream(
      StreamRef ref,
      String requests,
      StreamIndex.@Nullable Opening opening,
      @Nullable MemoryStream shared,
      Retention retention) {
    this.ref = ref;
    this.requests = requests;
    this.opening = opening;
    this.shared = shared;
    this.window = shared == null ? new ReaderWindow(retention) : null;
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

  /** Time at which a complete stream expires, in milliseconds since the epoch. */
  long expires() {
    return expires;
  }

  StreamIndex.Entry entry(long now) {
    Position first = size() == 0 ? Position.START : oldest().position();
    Duration left = isOpen() ? null : Duration.ofMillis(Math.max(0, expires - now));
    return new StreamIndex.Entry(
        ref,
        isOpen() ? OWNER : null,
        first,
        last,
        size(),
        new StreamIndex.Details(
            opening, hasReader(), deliveredToEnd, left, StreamIndex.Message.of(newestMessage())));
  }

  byte[] newestMessage() {
    return size() == 0 ? new byte[0] : at(kept.size() - 1).payload();
  }

  /** Returns true if a complete stream is no longer kept. */
  boolean isExpired(long now) {
    return now >= expires;
  }

  /** Returns true if the oldest event was written at a time or before. */
  boolean isOlderThan(long millis) {
    return size() > 0 && oldest().millis() <= millis;
  }

  private StoredEvent oldest() {
    return at(purged);
  }

  private StoredEvent at(int index) {
    return Objects.requireNonNull(kept.get(index));
  }

  /** Adds the next event, which is the newest of the session by its order. */
  void add(NewEvent event, long now, long order) {
    last = new Position(Math.max(now, last.millis()), last.number() + 1);
    StoredEvent stored =
        new StoredEvent(
            last.millis(), last.number(), order, event.payload(), event.upstreamId(), event.last());
    kept.add(stored);
    bytes += stored.bytes();
  }

  /** The order of the oldest event in its session. */
  long order() {
    return oldest().order();
  }

  /** The kind of the oldest event, if it may go. */
  Oldest oldest(long now) {
    if (size() == 0) {
      return Oldest.NOTHING;
    }
    StoredEvent oldest = oldest();
    if (oldest.number() <= delivered.number()) {
      return Oldest.DELIVERED;
    }
    if (isFollowed(now)) {
      return Oldest.NOTHING;
    }
    return oldest.last() ? Oldest.RESULT : Oldest.NOTIFICATION;
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
    window = null; // The writer waits for nobody any more.
  }

  /** Drops all events and accepts no more. */
  void discard() {
    state = State.DISCARDED;
    requests = "";
    kept = new ArrayList<>(0);
    purged = 0;
    bytes = 0;
    if (window != null) {
      window.disconnectAll();
    }
  }

  /** Removes the oldest event. */
  void purge() {
    bytes -= oldest().bytes();
    kept.set(purged++, null);
    if (purged > kept.size() / 2) {
      kept.subList(0, purged).clear();
      purged = 0;
    }
  }

  /** The flow control of the connected reader. Not of a complete stream. */
  ReaderWindow window() {
    return Objects.requireNonNull(window);
  }

  /** The place of this stream in its session; null if it may be discarded. */
  @Nullable Place place(long now) {
    if (isOpen() || isFollowed(now)) {
      return Place.ACTIVE;
    }
    if (deliveredToEnd) {
      return Place.DELIVERED;
    }
    return size() > 1 ? Place.UNDELIVERED : size() == 1 ? Place.RESULT : null;
  }

  /** Returns true if a client is connected, or will be soon. */
  boolean isFollowed(long now) {
    return reader != NOBODY || now < readerExpectedUntil;
  }

  /** Tells if a client is connected. */
  boolean hasReader() {
    return reader != NOBODY;
  }

  /** Notes that a client waits for the answer, and that its reader comes soon. */
  void expectReader(long until) {
    readerExpectedUntil = until;
    window().connect(ReaderWindow.EXPECTED, Position.START);
  }

  /** Notes the connected reader. */
  void connect(long follower, Position cursor) {
    readerExpectedUntil = 0;
    reader = follower;
    delivered = cursor;
    if (window != null) {
      window.connect(follower, cursor);
    }
  }

  /** Returns true if the first reader has not come yet. */
  boolean isExpectingReader() {
    return reader == NOBODY && readerExpectedUntil > 0;
  }

  boolean isDiscarded() {
    return state == State.DISCARDED;
  }

  /** Notes that the reader that was expected has not come. */
  void stopExpecting(long now) {
    if (reader == NOBODY && now >= readerExpectedUntil && window != null) {
      window.disconnect(ReaderWindow.EXPECTED);
    }
  }

  /** Notes that a reader has left. */
  void disconnect(long follower) {
    reader = reader == follower ? NOBODY : reader;
    if (window != null) {
      window.disconnect(follower);
    }
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

  /** Returns true if the cursor is ahead of the log, or its time differs from that of its event. */
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

  Optional<Position> newestPosition() {
    return isOpen() || size() > 0 ? Optional.of(last) : Optional.empty();
  }

  Optional<Position> newestUntil(long millis) {
    return kept.subList(purged, kept.size()).reversed().stream()
        .map(event -> Objects.requireNonNull(event).position())
        .filter(position -> position.millis() <= millis)
        .findFirst();
  }

  Position delivered() {
    return delivered;
  }

  void markDelivered(Position position, long by) {
    if (by != NOBODY && by != reader) {
      return; // A newer reader has replaced it.
    }
    if (position.compareTo(delivered) > 0) {
      delivered = position;
    }
    if (by != NOBODY && window != null) {
      window.advance(by, position);
    }
  }

  void markFullyDelivered(long expiry) {
    if (state == State.COMPLETE) {
      deliveredToEnd = true;
      readerExpectedUntil = 0;
      expires = Math.min(expires, expiry);
    }
  }
}

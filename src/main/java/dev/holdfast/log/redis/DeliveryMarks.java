package dev.holdfast.log.redis;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notes what was delivered, with at most one note per stream on its way: those that come meanwhile
 * are one when it has arrived.
 */
final class DeliveryMarks {

  /** Sends a note. */
  interface Sender {
    void send(StreamRef stream, Position position, Consumer<@Nullable Throwable> done);
  }

  /**
   * @param sent on its way
   * @param newest to be sent next, unless it is the same
   */
  private record Note(Position sent, Position newest) {}

  private final Sender sender;
  private final Map<StreamRef, Note> notes = new ConcurrentHashMap<>();

  DeliveryMarks(Sender sender) {
    this.sender = sender;
  }

  void mark(StreamRef stream, Position position) {
    boolean[] begins = new boolean[1];
    notes.compute(
        stream,
        (ref, note) -> {
          begins[0] = note == null;
          if (note == null) {
            return new Note(position, position);
          }
          return position.compareTo(note.newest()) > 0 ? new Note(note.sent(), position) : note;
        });
    if (begins[0]) {
      send(stream, position);
    }
  }

  private void send(StreamRef stream, Position position) {
    sender.send(stream, position, failure -> sent(stream, position));
  }

  /** A failed note is as good as sent: the next one will tell more. */
  private void sent(StreamRef stream, Position position) {
    Note next =
        notes.computeIfPresent(
            stream,
            (ref, note) ->
                note.newest().equals(position) ? null : new Note(note.newest(), note.newest()));
    if (next != null) {
      send(stream, next.sent());
    }
  }

  /** What was noted here and is on its way still. */
  @Nullable Position pending(StreamRef stream) {
    Note note = notes.get(stream);
    return note == null ? null : note.newest();
  }
}

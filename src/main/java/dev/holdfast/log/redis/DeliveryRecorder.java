package dev.holdfast.log.redis;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamScripts;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Records in Redis up to which position each stream was delivered. At most one record of a stream
 * is in flight. Positions that are added meanwhile become one record.
 */
final class DeliveryRecorder {

  /**
   * The positions of a stream that Redis may not have.
   *
   * @param sent in flight
   * @param newest sent next, unless it equals the position in flight
   */
  private record Unrecorded(Position sent, Position newest) {}

  private final StreamScripts scripts;
  private final Map<StreamRef, Unrecorded> streams = new ConcurrentHashMap<>();

  /** Streams whose last record failed. */
  private final Set<StreamRef> failed = ConcurrentHashMap.newKeySet();

  DeliveryRecorder(StreamScripts scripts) {
    this.scripts = scripts;
  }

  void record(StreamRef stream, Position position) {
    boolean[] first = new boolean[1];
    streams.compute(
        stream,
        (ref, unrecorded) -> {
          first[0] = unrecorded == null;
          if (unrecorded == null) {
            return new Unrecorded(position, position);
          }
          boolean newer = position.compareTo(unrecorded.newest()) > 0;
          return newer ? new Unrecorded(unrecorded.sent(), position) : unrecorded;
        });
    if (first[0]) {
      send(stream, position);
    }
  }

  private void send(StreamRef stream, Position position) {
    scripts.recordDelivery(
        stream,
        position,
        recorded -> {
          if (recorded) {
            sent(stream, position);
          } else {
            failed.add(stream);
          }
        });
  }

  /** Records again what Redis did not take: a writer may wait for it. */
  void repeat() {
    for (StreamRef stream : List.copyOf(failed)) {
      failed.remove(stream);
      Position newest = unrecorded(stream);
      if (newest != null) {
        streams.computeIfPresent(stream, (_, last) -> new Unrecorded(last.newest(), last.newest()));
        send(stream, newest);
      }
    }
  }

  private void sent(StreamRef stream, Position position) {
    Unrecorded next =
        streams.computeIfPresent(
            stream,
            (ref, unrecorded) ->
                unrecorded.newest().equals(position)
                    ? null
                    : new Unrecorded(unrecorded.newest(), unrecorded.newest()));
    if (next != null) {
      send(stream, next.sent());
    }
  }

  /** The newest position of a stream that Redis may not have; null if it has all. */
  @Nullable Position unrecorded(StreamRef stream) {
    Unrecorded unrecorded = streams.get(stream);
    return unrecorded == null ? null : unrecorded.newest();
  }
}

package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import org.jspecify.annotations.Nullable;

/**
 * The reply to an append.
 *
 * @param last the position of the last event
 * @param lastKept the same in the stream that keeps the events
 * @param remoteRead what the tail on another replica has; null without one
 */
record Appended(Position last, Position lastKept, @Nullable Position remoteRead) {

  /**
   * Reads the reply of {@code append-events.lua} or {@code append-to-shared-stream.lua}.
   *
   * @throws LogException.Fenced when nothing was written
   */
  static Appended parse(StreamRef stream, boolean shared, String reply) {
    String[] words = reply.split(" ", -1);
    Position last = Position.parse(words[0]).orElseThrow(() -> new LogException.Fenced(stream));
    int next = shared ? 2 : 1;
    Position kept = shared ? Position.parse(words[1]).orElseThrow() : last;
    return new Appended(
        last, kept, words.length > next ? Position.parse(words[next]).orElseThrow() : null);
  }
}

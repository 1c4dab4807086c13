package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.List;

/** The store and the local tail of one stream, as the writer of the stream uses them. */
interface StreamStore {

  /**
   * Stores a batch and then wakes the tail. An empty batch only records where the stream ends.
   *
   * @return the position of the last event of the stream
   */
  Position write(WriterProgress progress, List<NewEvent> batch);

  /** Gives events to the local tail only; returns false if that is not possible. */
  boolean deliverUnlogged(List<LogEvent> events);

  /** Records, without waiting, the id from which the upstream can resume after an event. */
  void recordUpstreamCursor(long number, String upstreamId);
}

package dev.holdfast.log.redis;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.List;

/** The store, as the writer of one stream sees it. */
interface StreamStore {

  /**
   * Writes a batch after what has been given out, and makes it known. Without events, only says
   * where the stream stands.
   *
   * @return the position of the last event, or where the stream stands
   */
  Position write(WriterProgress standing, List<NewEvent> batch);

  /** Makes events known to the local watcher only; returns whether that was possible. */
  boolean pass(List<LogEvent> events);

  /** Notes, after the event of that number, from where the upstream can go on. */
  void note(long last, String upstreamId);
}

package dev.holdfast.relay;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;

/**
 * How the events of one stream look on the wire.
 *
 * @param stream the stream's name, the first part of every event id
 * @param ids whether events carry ids; without them nobody can resume
 * @param hints whether the client understands a priming event and {@code retry}: those of before
 *     2025-11-25 stumble over an event without data
 */
record Framing(String stream, boolean ids, boolean hints) {

  /**
   * The first frame of a connection: a place to resume from, and when to come back. A client that
   * would not understand gets a comment, so that it sees at once that it is connected.
   */
  void opening(SseWriter frames, Position cursor, Duration retry) {
    if (ids && hints) {
      frames.priming(id(cursor), retry);
    } else {
      frames.comment("");
    }
  }

  /**
   * One event. One without a payload only ends its stream and is not sent. One that is not logged
   * gets no id: a client that resumes does so from before it, and learns of the gap.
   */
  void event(SseWriter frames, LogEvent event) {
    if (event.payload().length == 0) {
      return;
    }
    if (ids && event.logged()) {
      frames.event(id(event.position()), event.payload());
    } else {
      frames.event(null, null, null, event.payload());
    }
  }

  /** The last frame of a connection that is closed while its stream goes on. */
  void closing(SseWriter frames, Duration retry) {
    if (hints) {
      frames.retry(retry);
    }
  }

  /** Names a gap: the events after one position and up to another are gone. */
  void gap(SseWriter frames, Position after, Position before) {
    frames.comment("gap: events after " + after + " up to " + before + " are purged");
  }

  private String id(Position position) {
    return stream + "_" + position;
  }
}

package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the events of one stream look on the wire.
 *
 * @param stream the stream's name, the first part of every event id; where no header names the
 *     session, that stands before it
 * @param ids whether events carry ids; without them nobody can resume
 * @param hints whether the client understands a priming event and {@code retry}: those of before
 *     2025-11-25 stumble over an event without data
 * @param endpoint where the client is to send its messages, on the transport that tells it so
 *     (2024-11-05, Transports, HTTP with SSE); null on others
 */
public record EventFraming(String stream, boolean ids, boolean hints, @Nullable String endpoint) {

  private static final String ENDPOINT = "endpoint";
  private static final String MESSAGE = "message";

  /** That of Streamable HTTP. */
  public EventFraming(String stream, boolean ids, boolean hints) {
    this(stream, ids, hints, null);
  }

  /**
   * The first frame of a connection: a place to resume from, and when to come back. A client that
   * would not understand gets a comment, so that it sees at once that it is connected.
   */
  void opening(SseWriter frames, Position cursor, Duration retry) {
    if (endpoint != null) {
      frames.event(ENDPOINT, ids ? id(cursor) : null, retry, endpoint.getBytes(UTF_8));
    } else if (ids && hints) {
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
    if (endpoint != null) {
      frames.event(MESSAGE, ids ? id(event.position()) : null, null, event.payload());
    } else if (ids && event.logged()) {
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

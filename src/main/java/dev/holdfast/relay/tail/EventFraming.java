package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Formats the events of one stream as SSE frames.
 *
 * @param stream the first part of every event id: the stream's name, after the session id where no
 *     header names the session
 * @param ids whether events have ids, without which clients cannot resume
 * @param priming whether the client understands a priming event; clients of revisions before
 *     2025-11-25 fail at an event without data
 * @param retry whether the client understands {@code retry}
 * @param endpoint the URL to which the client sends its messages (2024-11-05, Transports, HTTP with
 *     SSE); null on Streamable HTTP
 */
public record EventFraming(
    String stream, boolean ids, boolean priming, boolean retry, @Nullable String endpoint) {

  private static final String ENDPOINT = "endpoint";
  private static final String MESSAGE = "message";

  /** The frames of a request without a session: the client needs no {@code retry}. */
  EventFraming withoutSession(@Nullable String idPrefix) {
    return new EventFraming(
        idPrefix == null ? stream : idPrefix,
        idPrefix != null,
        idPrefix != null && priming,
        false,
        null);
  }

  /**
   * Writes the first frame of a connection: the id to resume from, and {@code retry}. A client that
   * does not understand it gets a comment, which shows that it is connected.
   */
  void opening(SseWriter frames, Position cursor, Duration delay) {
    Duration told = retry ? delay : null;
    if (endpoint != null) {
      frames.event(ENDPOINT, ids ? id(cursor) : null, told, endpoint.getBytes(UTF_8));
    } else if (ids && priming) {
      frames.priming(id(cursor), told);
    } else {
      frames.comment("");
    }
  }

  /**
   * Writes an event. An empty event only ends its stream and is not written. An event that is not
   * in the log gets no id: a client resumes from before it and learns of the gap.
   */
  void event(SseWriter frames, LogEvent event) {
    if (event.payload().length == 0) {
      return;
    }
    if (endpoint != null) {
      frames.event(MESSAGE, ids ? id(event.position()) : null, null, event.payload());
    } else if (ids && event.logged()) {
      frames.event(null, id(event.position()), null, event.payload());
    } else {
      unlogged(frames, event.payload());
    }
  }

  /** Writes a message that no log holds. */
  void unlogged(SseWriter frames, byte[] message) {
    frames.event(endpoint == null ? null : MESSAGE, null, null, message);
  }

  /** Writes the last frame of a connection that is closed while its stream continues. */
  void closing(SseWriter frames, Duration delay) {
    if (retry) {
      frames.retry(delay);
    }
  }

  /** Writes a comment that names the purged events between two positions. */
  void gap(SseWriter frames, Position after, Position before) {
    frames.comment("gap: events after " + after + " up to " + before + " are purged");
  }

  private String id(Position position) {
    return stream + "_" + position;
  }
}

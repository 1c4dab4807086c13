package dev.holdfast.relay.tail;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Frames on their way to the client of one {@link Tail}: events of its stream, translated for the
 * client, and what the gateway adds. The turn of the tail guards all fields.
 */
final class ClientFrames {

  /** The session has ended, or the store has lost it. */
  private static final String STREAM_LOST =
      "The stream of the request is gone; the outcome of the request is unknown";

  private final SseWriter frames = new SseWriter();
  private EventFraming framing;
  private Translation translation = Translation.NONE;

  /** The request that gets the messages; null for that of the stream. */
  private @Nullable RepeatedRequest repeated;

  /** True if the newest event is not in the log, so that the client cannot resume after it. */
  private boolean pastLog;

  ClientFrames(EventFraming framing) {
    this.framing = framing;
  }

  /** Translates all messages, before the tail runs. */
  void translate(Translation with, @Nullable String idPrefix) {
    translation = repeated == null ? with : repeated.before(with);
    framing = framing.withoutSession(idPrefix);
  }

  /** Gives the messages to another request, before the tail runs. */
  void repeat(RepeatedRequest request) {
    repeated = request;
    translation = request.before(translation);
    withoutIds();
  }

  /** Returns true if another request gets the messages. */
  boolean isRepeating() {
    return repeated != null;
  }

  /** Wraps the translation, before the tail runs. */
  void wrap(UnaryOperator<Translation> wrapper) {
    translation = wrapper.apply(translation);
  }

  /** Gives events no ids, before the tail runs. */
  void withoutIds() {
    framing = framing.withoutSession(null);
  }

  /** Returns true if events have ids, without which no client resumes. */
  boolean hasIds() {
    return framing.ids();
  }

  /** Returns true if the client learns an event id before the first event. */
  boolean hasPriming() {
    return framing.priming();
  }

  /** Returns true if the frames are those of a client over HTTP with SSE. */
  boolean namesEndpoint() {
    return framing.endpoint() != null;
  }

  /** Returns true if messages reach the client as they are in the log. */
  boolean areUntouched() {
    return translation.equals(Translation.NONE);
  }

  /** Returns true if the newest event is not in the log. */
  boolean isPastLog() {
    return pastLog;
  }

  /** Returns true if the response pauses when a newer tail takes the stream. */
  boolean pausesForNewerTail() {
    return !pastLog && translation.pausesForNewerTail();
  }

  /** Returns true if the response can end before the stream, and the client comes back. */
  boolean canPause() {
    return !pastLog && translation.canPause();
  }

  /** Time after which the response must end early; null if it need not. */
  @Nullable Duration untilPause() {
    return pastLog ? null : translation.untilPause();
  }

  /** Returns true if the client asks for the result in another way. */
  boolean isHandedOver() {
    return translation.isHandedOver();
  }

  /** Adds the last message of a response that ends before the stream. */
  void pause(Position cursor) {
    unlogged(translation.pause(cursor));
  }

  /** Ends the response early if it must. */
  boolean hasPaused(Position cursor) {
    Duration left = untilPause();
    boolean ends = left != null && !left.isPositive();
    if (ends) {
      pause(cursor);
    }
    return ends;
  }

  /** Adds the last frame of a response that ends early, for a client that comes back. */
  void pauseOrClose(Position cursor, Duration retry) {
    if (canPause()) {
      pause(cursor);
    } else {
      close(retry);
    }
  }

  /**
   * Adds the first frame. Its delay is up to a quarter longer, at random, so that clients which
   * lose a replica together do not come back at the same time.
   */
  void open(Position cursor, Duration retry) {
    long later = ThreadLocalRandom.current().nextLong(retry.toMillis() / 4 + 1);
    framing.opening(frames, cursor, retry.plusMillis(later));
  }

  /** Adds the messages before the first one of the stream. */
  void begin() {
    translation.begin().forEach(this::unlogged);
  }

  /** Notes the requests that a resumed stream answers. */
  void requests(List<RequestId> open) {
    translation.requests(open);
  }

  /** Adds an event; {@code before} is the position of the event before it. */
  void event(Position before, LogEvent event) {
    pastLog = !event.logged();
    if (event.payload().length == 0 || areUntouched()) {
      framing.event(frames, event);
      return;
    }
    byte[] message =
        translation.translate(event.logged() ? event.position() : before, event.payload());
    framing.event(
        frames,
        new LogEvent(event.position(), message, event.upstreamId(), event.last(), event.logged()));
  }

  private void unlogged(byte[] message) {
    framing.unlogged(frames, message);
  }

  /** Adds what the client gets besides the stream. */
  void atHead() {
    translation.atHead().forEach(this::unlogged);
  }

  /** Time after which there may be more of it; null if that can wait for the next event. */
  @Nullable Duration untilAtHead() {
    return translation.untilAtHead();
  }

  /** Adds what the client still needs when the log has no further events. */
  void streamEnded() {
    translation.atEnd().forEach(this::unlogged);
  }

  /** Adds an error for each of these requests. */
  void streamLost(Position cursor, List<RequestId> open) {
    for (RequestId id : open) {
      byte[] error = JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, STREAM_LOST);
      unlogged(translation.translate(cursor, error));
    }
  }

  /** Adds the notice of missing events. */
  void gap(Position after, Position before) {
    framing.gap(frames, after, before);
    translation.afterGap().forEach(this::unlogged);
  }

  void comment(String text) {
    frames.comment(text);
  }

  /** Adds the last frame of a connection whose stream continues. */
  void close(Duration retry) {
    framing.closing(frames, retry);
  }

  /** Notes that the response has ended, or that the client has left before. */
  void closed(boolean left) {
    translation.closed(left);
  }

  /** The frames that wait; a writer takes them. */
  SseWriter written() {
    return frames;
  }
}

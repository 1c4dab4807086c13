package dev.holdfast.relay.stream;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.session.SessionId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a client sees in {@code id:} and sends back in {@code Last-Event-ID}. It names its stream,
 * as the specification advises (2025-11-25, Transports, Resumability), so any replica can find the
 * place from the id alone.
 *
 * @param session the session, where no header names it; null elsewhere
 * @param stream the name of the stream
 * @param position the place on it
 */
public record EventId(@Nullable SessionId session, String stream, Position position) {

  /** An id on a transport where a header names the session. */
  public EventId(String stream, Position position) {
    this(null, stream, position);
  }

  /**
   * Reads {@code <stream>_<ms>-<n>}.
   *
   * @return the id; empty when the text is not of that form
   */
  public static Optional<EventId> parse(String text) {
    int separator = text.indexOf('_');
    if (separator < 1 || !StreamRef.isName(text.substring(0, separator))) {
      return Optional.empty();
    }
    return Position.parse(text.substring(separator + 1))
        .map(position -> new EventId(text.substring(0, separator), position));
  }

  /**
   * Reads {@code <session>_<stream>_<ms>-<n>}.
   *
   * @return the id; empty when the text is not of that form
   */
  public static Optional<EventId> parseWithSession(String text) {
    int separator = SessionId.LENGTH;
    if (text.length() <= separator || text.charAt(separator) != '_') {
      return Optional.empty();
    }
    Optional<SessionId> session = SessionId.parse(text.substring(0, separator));
    return parse(text.substring(separator + 1))
        .flatMap(id -> session.map(of -> new EventId(of, id.stream(), id.position())));
  }

  /** Another place on the same stream. */
  EventId at(Position other) {
    return new EventId(session, stream, other);
  }

  /** The form in which it is read. Of one with a session, a secret of its client. */
  @Override
  public String toString() {
    return (session == null ? "" : session.value() + "_") + stream + "_" + position;
  }
}

package dev.holdfast.relay.stream;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The id of an event: clients receive it in {@code id:} and return it in {@code Last-Event-ID}. It
 * names its stream, as the specification advises (2025-11-25, Transports, Resumability), so any
 * replica finds the position from the id alone.
 *
 * @param session the session, on the transport where no header names it; null otherwise
 */
public record EventId(@Nullable SessionId session, String stream, Position position) {

  /** Creates the id of an event on a transport where a header names the session. */
  public EventId(String stream, Position position) {
    this(null, stream, position);
  }

  /** Parses {@code <stream>_<ms>-<n>}; empty when the text has another form. */
  public static Optional<EventId> parse(String text) {
    int separator = text.indexOf('_');
    if (separator < 1 || !StreamRef.isName(text.substring(0, separator))) {
      return Optional.empty();
    }
    return Position.parse(text.substring(separator + 1))
        .map(position -> new EventId(text.substring(0, separator), position));
  }

  /** Parses {@code <session>_<stream>_<ms>-<n>}; empty when the text has another form. */
  public static Optional<EventId> parseWithSession(String text) {
    int separator = SessionId.LENGTH;
    if (text.length() <= separator || text.charAt(separator) != '_') {
      return Optional.empty();
    }
    Optional<SessionId> session = SessionId.parse(text.substring(0, separator));
    return parse(text.substring(separator + 1))
        .flatMap(id -> session.map(of -> new EventId(of, id.stream(), id.position())));
  }

  /** The id of another position on the same stream. */
  EventId at(Position other) {
    return new EventId(session, stream, other);
  }

  /** The wire form. It contains the session id, if there is one, so it must not be logged. */
  @Override
  public String toString() {
    return (session == null ? "" : session.value() + "_") + stream + "_" + position;
  }
}

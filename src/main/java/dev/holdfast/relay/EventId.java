package dev.holdfast.relay;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import java.util.Optional;

/**
 * What a client sees in {@code id:} and sends back in {@code Last-Event-ID}. It names its stream,
 * as the specification advises (2025-11-25, Transports, Resumability), so any replica can find the
 * place from the id alone.
 *
 * @param stream the name of the stream
 * @param position the place on it
 */
public record EventId(String stream, Position position) {

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

  /** The form {@code <stream>_<ms>-<n>}. */
  @Override
  public String toString() {
    return stream + "_" + position;
  }
}

package dev.holdfast.log.ownership;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import org.jspecify.annotations.Nullable;

/**
 * An open stream that this replica has adopted.
 *
 * @param writer continues after the last event of the previous owner, which is fenced
 * @param requests the JSON-RPC ids of the requests that the stream answers, as {@link
 *     EventLog#open} recorded them
 * @param upstreamId the upstream's own id of the newest event that has one, from which the upstream
 *     stream can be resumed; null when none has
 */
public record AdoptedStream(StreamWriter writer, String requests, @Nullable String upstreamId) {

  /** The stream. */
  public StreamRef stream() {
    return writer.stream();
  }
}

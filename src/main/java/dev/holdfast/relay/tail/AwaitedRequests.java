package dev.holdfast.relay.tail;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.PendingRequests;
import java.util.List;

/**
 * The requests whose responses a client awaits on one connection. If the store loses the stream,
 * each gets an error. Only events of a batch (2025-03-26, Transports) and of a shared stream are
 * parsed: the response to a single request is the last event of its stream. Thread-safe.
 */
final class AwaitedRequests {

  /** The session has ended, or the store has lost it. */
  private static final String STREAM_LOST =
      "The stream of the request is gone; the outcome of the request is unknown";

  /** More than a session can have open. Requests whose response came first may stay. */
  private static final int MOST = 10_000;

  private final boolean shared;
  private final PendingRequests pending = new PendingRequests(List.of());

  /** Awaits no requests yet; {@code shared} tells whether the stream keeps those of a session. */
  AwaitedRequests(boolean shared) {
    this.shared = shared;
  }

  /** Awaits these requests, none of which has a response yet. */
  void begin(List<RequestId> requests) {
    if (pending.size() + requests.size() <= MOST) {
      pending.add(requests);
    }
  }

  /** Awaits those of these requests that have no response up to the client's cursor. */
  void resume(List<RequestId> requests, EventLog log, StreamRef stream, Position cursor) {
    begin(requests);
    if (!shared) { // The stream of an answered request is no longer open.
      pending.removeAnswered(log, stream, cursor);
    }
  }

  /** Removes the requests that these events answer. */
  void delivered(List<LogEvent> events) {
    if (pending.size() > (shared ? 0 : 1)) {
      events.forEach(pending::removeAnswered);
    }
  }

  /** Whether a request may still be open. */
  boolean isAny() {
    return pending.size() > 0;
  }

  /** An error for each request that is still open. */
  List<byte[]> streamLost() {
    return pending.open().stream()
        .map(id -> JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, STREAM_LOST))
        .toList();
  }
}

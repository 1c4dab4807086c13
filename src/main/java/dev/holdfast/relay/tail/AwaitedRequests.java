package dev.holdfast.relay.tail;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * The requests whose responses a client awaits on one connection. If the store loses the stream,
 * each gets an error. Only events of a batch (2025-03-26, Transports) and of a shared stream are
 * parsed: the response to a single request is the last event of its stream. Thread-safe.
 */
final class AwaitedRequests {

  /** The session has ended, or the store has lost it. */
  private static final String STREAM_LOST =
      "The stream of the request is gone; the outcome of the request is unknown";

  private static final Logger LOG = Logger.getLogger(AwaitedRequests.class);

  /** More than a session can have open. Requests whose response came first may stay. */
  private static final int MOST = 10_000;

  private final boolean shared;
  private final Set<RequestId> open = Collections.synchronizedSet(new LinkedHashSet<>());

  /** Awaits no requests yet; {@code shared} tells whether the stream keeps those of a session. */
  AwaitedRequests(boolean shared) {
    this.shared = shared;
  }

  /** Awaits these requests, none of which has a response yet. */
  void begin(List<RequestId> requests) {
    if (open.size() + requests.size() <= MOST) {
      open.addAll(requests);
    }
  }

  /** Awaits those of these requests that have no response up to the client's cursor. */
  void resume(List<RequestId> requests, EventLog log, StreamRef stream, Position cursor) {
    begin(requests);
    if (shared || open.size() <= 1) {
      return; // The stream of an answered request is no longer open.
    }
    Position read = log.beforeOldest(stream).orElse(cursor);
    while (open.size() > 1
        && read.compareTo(cursor) < 0
        && log.read(stream, read, PageReader.MAX_EVENTS)
            instanceof ReadResult.Events(List<LogEvent> events)
        && !events.isEmpty()) {
      delivered(events.stream().filter(event -> event.position().compareTo(cursor) <= 0).toList());
      read = events.getLast().position();
    }
  }

  /** Removes the requests that these events answer. */
  void delivered(List<LogEvent> events) {
    if (open.size() > (shared ? 0 : 1)) {
      events.forEach(this::delivered);
    }
  }

  private void delivered(LogEvent event) {
    try {
      for (Message message : Envelopes.read(event.payload()).messages()) {
        if (message instanceof Message.Response response && response.id() != null) {
          open.remove(response.id());
        }
      }
    } catch (EnvelopeException invalid) {
      LOG.tracef("event is no JSON-RPC: %s", invalid.getMessage());
    }
  }

  /** Whether a request may still be open. */
  boolean isAny() {
    return !open.isEmpty();
  }

  /** An error for each request that is still open. */
  List<byte[]> streamLost() {
    return List.copyOf(open).stream()
        .map(id -> JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, STREAM_LOST))
        .toList();
  }
}

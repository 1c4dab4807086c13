package dev.holdfast.relay.stream;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a stream that have no response yet; more than one only for a batch (2025-03-26,
 * Transports). Thread-safe.
 */
public final class PendingRequests {

  private static final Logger LOG = Logger.getLogger(PendingRequests.class);
  private static final int PAGE_EVENTS = 500;

  /** More than a session can have open. Requests whose response came first may stay. */
  private static final int MOST = 10_000;

  private final AutoLock lock = new AutoLock();

  // All guarded by the lock.
  private final Set<RequestId> open = new LinkedHashSet<>();
  private final Set<RequestId> cancelled = new HashSet<>();

  /** Requests whose responses may not be in the log yet. */
  private final List<RequestId> unwritten = new ArrayList<>();

  /** Creates the set with all requests pending. */
  public PendingRequests(List<RequestId> ids) {
    open.addAll(ids);
  }

  /** Adds requests without a response, unless {@value #MOST} or more are pending. */
  public void add(List<RequestId> ids) {
    try (var _ = lock.hold()) {
      if (open.size() + ids.size() <= MOST) {
        open.addAll(ids);
      }
    }
  }

  /**
   * Removes the requests that a message from the upstream answers.
   *
   * @return whether the message is a response and no request is pending after it
   * @throws EnvelopeException when the message is no JSON-RPC
   */
  public boolean answeredBy(byte[] payload) {
    return answeredBy(Envelopes.read(payload).messages());
  }

  /** Removes the requests that messages answer. Returns as above. */
  public boolean answeredBy(List<Message> messages) {
    try (var _ = lock.hold()) {
      boolean answered = false;
      for (Message message : messages) {
        answered |= message instanceof Message.Response response && remove(response.id());
      }
      return answered && open.isEmpty();
    }
  }

  /** Removes the requests that an event of the log answers. */
  public void removeAnswered(LogEvent event) {
    try {
      boolean _ = answeredBy(event.payload());
    } catch (EnvelopeException invalid) {
      LOG.tracef("event is no JSON-RPC: %s", invalid.getMessage());
    }
  }

  /**
   * Removes the requests that the events of an open stream answer, up to a position. One always
   * stays: its response would be the end of the stream.
   */
  public void removeAnswered(EventLog log, StreamRef stream, Position upTo) {
    Position read = size() > 1 ? log.beforeOldest(stream).orElse(upTo) : upTo;
    while (size() > 1
        && read.compareTo(upTo) < 0
        && log.read(stream, read, PAGE_EVENTS) instanceof ReadResult.Events(List<LogEvent> events)
        && !events.isEmpty()) {
      events.stream()
          .filter(event -> event.position().compareTo(upTo) <= 0)
          .forEach(this::removeAnswered);
      read = events.getLast().position();
    }
  }

  private boolean remove(@Nullable RequestId id) {
    // An error without an id answers the request if only one is pending.
    RequestId answered = id == null && open.size() == 1 ? open.iterator().next() : id;
    if (answered == null) {
      return false;
    }
    boolean wasOpen = open.remove(answered);
    if (wasOpen) {
      unwritten.add(answered);
    }
    return wasOpen || cancelled.remove(answered);
  }

  /** The log has all responses so far. */
  public void written() {
    try (var _ = lock.hold()) {
      unwritten.clear();
    }
  }

  /** Makes the requests pending again whose responses may not be in the log. */
  public void reopenUnwritten() {
    try (var _ = lock.hold()) {
      open.addAll(unwritten);
    }
  }

  /** Cancels a request, whose response may still arrive; returns whether none is pending. */
  public boolean cancel(RequestId id) {
    try (var _ = lock.hold()) {
      if (open.remove(id)) {
        cancelled.add(id);
      }
      return open.isEmpty();
    }
  }

  /** The pending requests, in their original order. */
  public List<RequestId> open() {
    try (var _ = lock.hold()) {
      return List.copyOf(open);
    }
  }

  /** The number of pending requests. */
  public int size() {
    try (var _ = lock.hold()) {
      return open.size();
    }
  }
}

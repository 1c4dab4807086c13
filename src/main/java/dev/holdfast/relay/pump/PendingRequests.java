package dev.holdfast.relay.pump;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a stream that have no response yet; more than one only for a batch (2025-03-26,
 * Transports). Thread-safe: responses come on the thread of one {@link Pump}, cancellations on any.
 */
public final class PendingRequests {

  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private final Set<RequestId> open = new LinkedHashSet<>();
  private final Set<RequestId> cancelled = new HashSet<>();

  /** Requests whose responses may not be in the log yet. */
  private final List<RequestId> unwritten = new ArrayList<>();

  /** Creates the set with all requests pending. */
  public PendingRequests(List<RequestId> ids) {
    open.addAll(ids);
  }

  /**
   * Removes the requests that a message from the upstream answers.
   *
   * @return whether the message is a response and no request is pending after it
   * @throws dev.holdfast.protocol.EnvelopeException when the message is no JSON-RPC
   */
  public boolean answeredBy(byte[] payload) {
    return answeredBy(Envelopes.read(payload).messages());
  }

  boolean answeredBy(List<Message> messages) {
    lock.lock();
    try {
      boolean answered = false;
      for (Message message : messages) {
        answered |= message instanceof Message.Response response && remove(response.id());
      }
      return answered && open.isEmpty();
    } finally {
      lock.unlock();
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
  void written() {
    lock.lock();
    try {
      unwritten.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Makes the requests pending again whose responses may not be in the log. */
  void reopenUnwritten() {
    lock.lock();
    try {
      open.addAll(unwritten);
    } finally {
      lock.unlock();
    }
  }

  /** Cancels a request, whose response may still arrive; returns whether none is pending. */
  boolean cancel(RequestId id) {
    lock.lock();
    try {
      if (open.remove(id)) {
        cancelled.add(id);
      }
      return open.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** The pending requests, in their original order. */
  public List<RequestId> open() {
    lock.lock();
    try {
      return List.copyOf(open);
    } finally {
      lock.unlock();
    }
  }
}

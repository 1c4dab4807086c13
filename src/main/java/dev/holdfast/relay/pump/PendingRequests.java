package dev.holdfast.relay.pump;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
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

  // Both guarded by the lock.
  private final Set<RequestId> open = new LinkedHashSet<>();
  private final Set<RequestId> cancelled = new HashSet<>();

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

  /** Removes the requests that a batch of messages answers, with the same result. */
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
    if (id != null) {
      return open.remove(id) || cancelled.remove(id);
    }
    // An error without an id answers the request if only one is pending.
    boolean only = open.size() == 1;
    if (only) {
      open.clear();
    }
    return only;
  }

  /**
   * Cancels a request. Its response may still arrive, if it crosses the cancellation.
   *
   * @return whether no request is pending after it
   */
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

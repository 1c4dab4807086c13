package dev.holdfast.relay.pump;

import dev.holdfast.protocol.Body;
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
 * The requests that a stream has still to answer. Thread-safe: answers come on the thread of one
 * {@link Pump}, withdrawals on any.
 *
 * <p>More than one only for a batch (2025-03-26, Transports).
 */
public final class PendingRequests {

  private final ReentrantLock lock = new ReentrantLock();

  // Both guarded by the lock.
  private final Set<RequestId> open = new LinkedHashSet<>();
  private final Set<RequestId> withdrawn = new HashSet<>();

  public PendingRequests(List<RequestId> ids) {
    open.addAll(ids);
  }

  /** The ids of the requests in a body. */
  public static List<RequestId> idsOf(Body body) {
    return messagesOf(body).stream()
        .filter(Message.Request.class::isInstance)
        .map(message -> ((Message.Request) message).id())
        .toList();
  }

  /**
   * Reads what the upstream sent.
   *
   * @throws dev.holdfast.protocol.EnvelopeException when it is no JSON-RPC
   */
  static List<Message> read(byte[] payload) {
    return messagesOf(Envelopes.read(payload));
  }

  /**
   * Strikes out what a message from the upstream answers.
   *
   * @return whether this message is an answer and none is waited for after it
   * @throws dev.holdfast.protocol.EnvelopeException when it is no JSON-RPC
   */
  public boolean answeredBy(byte[] payload) {
    return answeredBy(read(payload));
  }

  /** Strikes out what messages that came together answer, likewise. */
  public boolean answeredBy(List<Message> messages) {
    lock.lock();
    try {
      boolean answered = false;
      for (Message message : messages) {
        answered |= message instanceof Message.Response response && strikeOut(response.id());
      }
      return answered && open.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private boolean strikeOut(@Nullable RequestId id) {
    if (id != null) {
      return open.remove(id) || withdrawn.remove(id);
    }
    // An error without an id can only be about the request, when there is but one.
    boolean only = open.size() == 1;
    if (only) {
      open.clear();
    }
    return only;
  }

  /**
   * The client does not want this answer any more. It may come all the same: the two have crossed.
   *
   * @return whether no other answer is waited for
   */
  boolean withdraw(RequestId id) {
    lock.lock();
    try {
      if (open.remove(id)) {
        withdrawn.add(id);
      }
      return open.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** What is still waited for, in the order of the requests. */
  public List<RequestId> open() {
    lock.lock();
    try {
      return List.copyOf(open);
    } finally {
      lock.unlock();
    }
  }

  /** The messages of a body. */
  public static List<Message> messagesOf(Body body) {
    return switch (body) {
      case Body.Single single -> List.of(single.message());
      case Body.Batch batch -> batch.messages();
    };
  }
}

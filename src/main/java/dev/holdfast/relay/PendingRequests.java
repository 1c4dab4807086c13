package dev.holdfast.relay;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The requests that a stream has still to answer. Owned by the thread of one {@link Pump}.
 *
 * <p>More than one only for a batch (2025-03-26, Transports).
 */
final class PendingRequests {

  private final Set<RequestId> open = new LinkedHashSet<>();

  PendingRequests(List<RequestId> ids) {
    open.addAll(ids);
  }

  /** The ids of the requests in a body. */
  static List<RequestId> idsOf(Body body) {
    return messagesOf(body).stream()
        .filter(Message.Request.class::isInstance)
        .map(message -> ((Message.Request) message).id())
        .toList();
  }

  /**
   * Strikes out what a message from the upstream answers.
   *
   * @return whether this message answered the last open request
   * @throws dev.holdfast.protocol.EnvelopeException when it is no JSON-RPC
   */
  boolean answeredBy(byte[] payload) {
    boolean answered = false;
    for (Message message : messagesOf(Envelopes.read(payload))) {
      if (message instanceof Message.Response response) {
        // An error without an id can only be about the request, when there is but one.
        answered |=
            response.id() == null ? open.size() == 1 && clear() : open.remove(response.id());
      }
    }
    return answered && open.isEmpty();
  }

  /** What is still open, in the order of the requests. */
  List<RequestId> open() {
    return List.copyOf(open);
  }

  private boolean clear() {
    open.clear();
    return true;
  }

  private static List<Message> messagesOf(Body body) {
    return switch (body) {
      case Body.Single single -> List.of(single.message());
      case Body.Batch batch -> batch.messages();
    };
  }
}

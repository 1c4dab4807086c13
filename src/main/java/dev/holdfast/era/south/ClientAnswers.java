package dev.holdfast.era.south;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The answers of clients to the requests of calls that this replica runs. An answer reaches every
 * replica on which its session has calls, so ids are unique among replicas. Thread-safe.
 */
final class ClientAnswers {

  private final String replica = UUID.randomUUID().toString();
  private final AtomicLong lastNumber = new AtomicLong();
  private final ConcurrentMap<RequestId, Awaited> awaited = new ConcurrentHashMap<>();

  private record Awaited(String session, CompletableFuture<Message.Response> answer) {}

  RequestId newId() {
    return RequestId.of(replica + "/" + lastNumber.incrementAndGet());
  }

  /** Begins to wait for the answer to a request of a session. */
  CompletableFuture<Message.Response> await(String session, RequestId id) {
    Awaited request = new Awaited(session, new CompletableFuture<>());
    awaited.put(id, request);
    return request.answer();
  }

  /** Ends a wait. */
  void forget(RequestId id) {
    Awaited request = awaited.remove(id);
    if (request != null) {
      request.answer().cancel(false);
    }
  }

  /** Ignores answers to unknown requests, and to those of other sessions. */
  void complete(String session, Message.Response answer) {
    Awaited request = answer.id() == null ? null : awaited.get(answer.id());
    if (request != null && request.session().equals(session)) {
      request.answer().complete(answer);
    }
  }
}

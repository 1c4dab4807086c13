package dev.holdfast.upstream.local.server;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The open requests of this replica to clients. A response reaches every replica on which its
 * session has calls. Ids are therefore unique among replicas, and each replica ignores the ids of
 * others.
 */
final class ClientRequests {

  private final String replica = UUID.randomUUID().toString();
  private final AtomicLong lastNumber = new AtomicLong();
  private final ConcurrentMap<RequestId, OpenRequest> open = new ConcurrentHashMap<>();

  private record OpenRequest(String session, CompletableFuture<Message.Response> response) {}

  /** Returns a new id, with the key of a question if there is one. */
  RequestId newId(@Nullable String key) {
    String unique = replica + "/" + lastNumber.incrementAndGet();
    return key == null ? RequestId.of(unique) : RequestId.withKey(unique, key);
  }

  /** Sends a request, and waits for its response. */
  Message.Response await(LocalSessionId session, RequestId id, Runnable send, Duration timeout)
      throws InterruptedException, TimeoutException {
    OpenRequest request = new OpenRequest(session.name(), new CompletableFuture<>());
    open.put(id, request);
    try {
      send.run();
      return request.response().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("The response never fails", e);
    } finally {
      open.remove(id);
    }
  }

  /** Ignores unknown responses, and those from other sessions. */
  void complete(LocalSessionId session, Message.Response response) {
    OpenRequest request = response.id() == null ? null : open.get(response.id());
    if (request != null && request.session().equals(session.name())) {
      request.response().complete(response);
    }
  }
}

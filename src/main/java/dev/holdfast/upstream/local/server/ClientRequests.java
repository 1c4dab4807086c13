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

/**
 * The open requests of this replica to clients. A response reaches every replica on which its
 * session has calls. Ids are therefore unique among replicas, and each replica ignores the ids of
 * others.
 */
final class ClientRequests {

  private final String replica = UUID.randomUUID().toString();
  private final AtomicLong lastNumber = new AtomicLong();
  private final ConcurrentMap<RequestId, ClientRequest> open = new ConcurrentHashMap<>();

  ClientRequest open(LocalSessionId session) {
    RequestId id = RequestId.of(replica + "/" + lastNumber.incrementAndGet());
    ClientRequest request = new ClientRequest(session.name(), id);
    open.put(id, request);
    return request;
  }

  /** Ignores unknown responses, and those from other sessions. */
  void complete(LocalSessionId session, Message.Response response) {
    ClientRequest request = response.id() == null ? null : open.get(response.id());
    if (request != null && request.session.equals(session.name())) {
      request.response.complete(response);
    }
  }

  final class ClientRequest implements AutoCloseable {

    private final String session;
    private final RequestId id;
    private final CompletableFuture<Message.Response> response = new CompletableFuture<>();

    private ClientRequest(String session, RequestId id) {
      this.session = session;
      this.id = id;
    }

    RequestId id() {
      return id;
    }

    Message.Response await(Duration timeout) throws InterruptedException, TimeoutException {
      try {
        return response.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw new IllegalStateException("The response never fails", e);
      }
    }

    @Override
    public void close() {
      open.remove(id);
    }
  }
}

package dev.holdfast.era.south;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.state.SessionMemory;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The answers of clients to the requests of calls that this replica runs. An answer reaches every
 * replica on which its session has calls, so ids are unique among replicas. Thread-safe.
 */
final class ClientAnswers {

  /** The client cannot or does not answer. */
  static final String REFUSAL = "null";

  private final ConcurrentMap<RequestId, Awaited> awaited = new ConcurrentHashMap<>();

  private record Awaited(String session, CompletableFuture<String> answer) {}

  /** Begins to wait for the answer to a request of a session: a raw result or a refusal. */
  CompletableFuture<String> await(String session, RequestId id) {
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

  /**
   * Takes an answer. Ignores answers to unknown requests, and to those of other sessions.
   *
   * @param memory keeps the answer for another replica that goes on with the call
   */
  void complete(String session, Message.Response response, SessionMemory memory) {
    RequestId id = response.id();
    if (id != null) {
      String answer = answer(response);
      CallState.keepAnswer(memory, id, answer);
      Awaited request = awaited.get(id);
      if (request != null && request.session().equals(session)) {
        request.answer().complete(answer);
      }
    }
  }

  private static String answer(Message.Response response) {
    @Nullable String result = response.error() ? null : JsonEdit.raw(response.bytes(), "result");
    return Objects.requireNonNullElse(result, REFUSAL);
  }
}

package dev.holdfast.era.south;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A task that a server has made of a call (extension {@code io.modelcontextprotocol/tasks}).
 *
 * @param id raw
 */
record ServerTask(String id, ClientFacts client, UpstreamSession server) {

  static final String TYPE = "task";

  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(1);
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofMinutes(1);

  /** Polls that may fail one after the other. */
  private static final int MAX_FAILURES = 10;

  private static final RequestId NO_ID = RequestId.of(0);

  /** Returns a request about this task. */
  byte[] request(String method) {
    return client
        .edit(null)
        .set(id, "params", "taskId")
        .apply(
            JsonRpcMessages.of(method)
                .set(JsonEdit.quote("task-" + UUID.randomUUID()), "id")
                .toBytes());
  }

  /**
   * Sends a request about this task.
   *
   * @return null if the server ends its answer without one
   */
  Message.@Nullable Response ask(byte[] request) {
    try (MessageSource answer = server.request(Envelopes.read(request)).source()) {
      return answer.response();
    }
  }

  /**
   * Gives the server the answers of a client, which it ignores if it has them.
   *
   * @param answered keys of the input that the client was asked for
   * @return the next response of the task; the error if the server refuses the answers
   */
  MessageSource update(byte[] request, Set<String> answered) {
    for (int failures = 0; ; failures++) {
      try {
        Message.Response response = ask(request);
        if (response != null && response.error()) {
          cancel();
          return MessageSource.of(List.of(new UpstreamMessage(response.bytes(), null)));
        }
        return source(answered, Duration.ZERO);
      } catch (UpstreamException.Broken | UpstreamException.TimedOut broken) {
        if (failures == MAX_FAILURES || Thread.currentThread().isInterrupted()) {
          throw broken;
        }
        LockSupport.parkNanos(MIN_INTERVAL.toNanos());
      }
    }
  }

  /** Asks the server to end the task. Does not wait. */
  void cancel() {
    Thread _ =
        Thread.startVirtualThread(() -> {
          try {
            Message.Response _ = ask(request("tasks/cancel"));
          } catch (UpstreamException gone) {
            // The time to live of the task ends it.
          }
        });
  }

  /** Returns the time until the next poll that a state of a task asks for. */
  static Duration interval(byte[] response) {
    String raw = JsonEdit.raw(response, "result", "pollIntervalMs");
    if (raw == null || !raw.matches("\\d{1,9}")) {
      return DEFAULT_INTERVAL;
    }
    Duration asked = Duration.ofMillis(Long.parseLong(raw));
    return asked.compareTo(MIN_INTERVAL) < 0
        ? MIN_INTERVAL
        : asked.compareTo(MAX_INTERVAL) > 0 ? MAX_INTERVAL : asked;
  }

  /**
   * The next response of the task, which ends it or asks for input.
   *
   * @param answered keys of the input that the client was asked for
   * @param first time until the first poll
   */
  MessageSource source(Set<String> answered, Duration first) {
    return new Source(this, answered, first);
  }

  /** For one reading thread; any thread may close it. */
  private static final class Source implements MessageSource {
    private final ServerTask task;
    private final Set<String> answered;
    private final CountDownLatch closed = new CountDownLatch(1);

    // Owned by the reading thread.
    private Duration interval;
    private int failures;

    Source(ServerTask task, Set<String> answered, Duration first) {
      this.task = task;
      this.answered = Set.copyOf(answered);
      interval = first;
    }

    @Override
    public List<UpstreamMessage> take() {
      try {
        while (!closed.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
          byte[] response = poll();
          if (response != null) {
            return List.of(new UpstreamMessage(response, null));
          }
        }
        return List.of();
      } catch (InterruptedException e) {
        throw UpstreamException.Broken.interrupted(e);
      }
    }

    private byte @Nullable [] poll() {
      try {
        Message.Response response = task.ask(task.request("tasks/get"));
        if (response == null) {
          throw new UpstreamException.Broken("no response to tasks/get", null);
        }
        failures = 0;
        interval = interval(response.bytes());
        return response.error() ? response.bytes() : next(response.bytes());
      } catch (UpstreamException failure) {
        if (++failures > MAX_FAILURES || closed.getCount() == 0) {
          throw failure;
        }
        return null;
      }
    }

    private byte @Nullable [] next(byte[] state) {
      String status = JsonEdit.text(JsonEdit.raw(state, "result", "status"));
      return switch (String.valueOf(status)) {
        case "completed" -> {
          String result = JsonEdit.raw(state, "result", "result");
          yield result == null
              ? error("The server's task has no result")
              : JsonRpcMessages.result(NO_ID, result);
        }
        case "failed" -> {
          String error = JsonEdit.raw(state, "result", "error");
          yield error == null
              ? error("The server's task failed")
              : new JsonEdit()
                  .set("\"2.0\"", "jsonrpc")
                  .set(NO_ID.json(), "id")
                  .set(error, "error")
                  .toBytes();
        }
        case "cancelled" -> error("The server cancelled the task");
        case "input_required" -> inputRequired(state);
        default -> null;
      };
    }

    /** Questions that were answered may stay until the server has read the answers. */
    private byte @Nullable [] inputRequired(byte[] state) {
      Map<String, String> questions = CallState.questions(state);
      questions.keySet().removeAll(answered);
      JsonEdit edit =
          new JsonEdit()
              .set("\"2.0\"", "jsonrpc")
              .set(NO_ID.json(), "id")
              .set(JsonEdit.quote(InputRound.TYPE), "result", "resultType");
      questions.forEach((key, question) -> edit.set(question, "result", "inputRequests", key));
      return questions.isEmpty() ? null : edit.toBytes();
    }

    private static byte[] error(String text) {
      return JsonRpcErrors.error(NO_ID, JsonRpcErrorCode.INTERNAL_ERROR, text);
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }
}

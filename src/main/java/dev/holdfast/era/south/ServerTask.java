package dev.holdfast.era.south;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.retry.Backoff;
import dev.holdfast.timer.TimeLimit;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A task that a server has made of a call (extension {@code io.modelcontextprotocol/tasks}).
 *
 * @param id raw
 * @param retry when to send a request about the task again, and when to give up the task
 * @param patience time for an answer to one request about the task
 */
record ServerTask(
    String id, ClientFacts client, UpstreamSession server, Backoff retry, Duration patience) {

  static final String TYPE = "task";

  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(1);
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofMinutes(1);

  /** Gives up after two minutes, in which a server can restart. */
  private static final Backoff RETRY = new Backoff(MIN_INTERVAL, Duration.ofSeconds(10), 18, 0);

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final RequestId NO_ID = RequestId.of(0);

  ServerTask(String id, ClientFacts client, UpstreamSession server) {
    this(id, client, server, RETRY, PATIENCE);
  }

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

  private MessageSource ask(byte[] request) {
    return server.request(Envelopes.read(request)).source();
  }

  /** Asks the server to end the task. Does not wait. */
  void cancel() {
    Thread _ =
        Thread.startVirtualThread(() -> {
          try (MessageSource answer = ask(request(Methods.TASKS_CANCEL))) {
            Message.Response _ = answer.response();
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
    return new Source(this, answered, first, null, () -> {});
  }

  /**
   * The next response of the task after the server got the answers of a client, which it ignores if
   * it has them; the error if it refuses them.
   *
   * @param request has the answers
   * @param answered keys of the input that the client was asked for
   * @param onUpdated runs on the reading thread when the server has the answers
   */
  MessageSource update(byte[] request, Set<String> answered, Runnable onUpdated) {
    return new Source(this, answered, Duration.ZERO, request, onUpdated);
  }

  /** For one reading thread; any thread may close it. */
  private static final class Source implements MessageSource {
    private final ServerTask task;
    private final Set<String> answered;
    private final Runnable onUpdated;
    private final ReplaceableSource answer = new ReplaceableSource();

    // Owned by the reading thread.
    private byte @Nullable [] update;
    private Duration pause;
    private Backoff retry;

    Source(
        ServerTask task,
        Set<String> answered,
        Duration first,
        byte @Nullable [] update,
        Runnable onUpdated) {
      this.task = task;
      this.answered = Set.copyOf(answered);
      this.update = update;
      this.onUpdated = onUpdated;
      pause = first;
      retry = task.retry();
    }

    @Override
    public List<UpstreamMessage> take() {
      try {
        while (!answer.isClosedWithin(pause)) {
          byte[] response = ask();
          if (response != null) {
            return List.of(new UpstreamMessage(response, null));
          }
        }
        return List.of();
      } catch (InterruptedException e) {
        throw UpstreamException.Broken.interrupted(e);
      }
    }

    /** Returns null if the task has no response yet, after a failure, and when this is closed. */
    private byte @Nullable [] ask() {
      byte[] updating = update;
      try {
        Message.Response response =
            ask(updating == null ? task.request(Methods.TASKS_GET) : updating);
        retry = retry.reset();
        if (updating == null) {
          pause = interval(response.bytes());
          return response.error() ? response.bytes() : next(response.bytes());
        }
        if (response.error()) {
          task.cancel();
          return response.bytes();
        }
        update = null;
        pause = Duration.ZERO;
        onUpdated.run();
        return null;
      } catch (UpstreamException failure) {
        if (answer.isClosed()) {
          return null;
        }
        if (retry.isExhausted()
            || failure instanceof UpstreamException.SessionGone
            || Thread.currentThread().isInterrupted()) {
          throw failure;
        }
        pause = retry.delay();
        retry = retry.next();
        return null;
      }
    }

    /** Requests about a task can be repeated, so a silent connection need not be awaited. */
    private Message.Response ask(byte[] request) {
      try (TimeLimit _ =
          TimeLimit.start(task.patience(), () -> Thread.startVirtualThread(answer::endWait))) {
        answer.replace(() -> task.ask(request));
        Message.Response response = answer.response();
        answer.endWait();
        if (response == null) {
          throw new UpstreamException.Broken("no response to a request about a task", null);
        }
        return response;
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
      boolean _ = answer.close();
    }
  }
}

package dev.holdfast.era.north;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of a task, as the stream of its call says (MCP 2026-07-28, Tasks).
 *
 * @param updated time of the newest event; null if there is none
 * @param questions requests of the server without an answer
 * @param end the response, or an empty message if the call was cancelled; null while it runs
 */
record TaskState(
    @Nullable Instant updated, Map<RequestId, Question> questions, byte @Nullable [] end) {

  /** Time between two requests of a client that polls. */
  static final Duration POLL = Duration.ofSeconds(1);

  /** The request of a server and its place on the stream. */
  record Question(Position position, Message.Request request) {}

  /** Collects what the log says of a running call. For one thread. */
  static final class Reader {

    /** The most questions that a client gets at a time. Others follow when these are answered. */
    private static final int MAX_QUESTIONS = 20;

    private final Map<RequestId, Question> questions = new LinkedHashMap<>();
    private @Nullable Instant updated;
    private @Nullable Position before;

    void at(Position position) {
      updated = Instant.ofEpochMilli(position.millis());
    }

    boolean takes() {
      return questions.size() < MAX_QUESTIONS;
    }

    /**
     * Adds a question without an answer.
     *
     * @param previous position of the event before it
     */
    void asked(Position previous, Position position, Message.Request request) {
      before = before == null ? previous : before;
      questions.put(request.id(), new Question(position, request));
    }

    /** Notes that the server has withdrawn a question. */
    void withdrawn(RequestId id) {
      questions.remove(id);
    }

    /** The position before the first question; null if there is none. */
    @Nullable Position before() {
      return before;
    }

    TaskState running() {
      return new TaskState(updated, questions, null);
    }

    TaskState ended(byte[] end) {
      return new TaskState(updated, Map.of(), end);
    }
  }

  boolean isRunning() {
    return end == null;
  }

  /** Returns true if a client must learn of the change from an earlier state. */
  boolean differs(@Nullable TaskState earlier) {
    return earlier == null
        || isRunning() != earlier.isRunning()
        || !questions.keySet().equals(earlier.questions.keySet());
  }

  /**
   * Adds the members of the task to an object.
   *
   * @param path of the object
   * @param kept time for which the log keeps events
   * @param detailed whether also what the server asks and has answered
   */
  void addTo(
      JsonEdit edit,
      String path,
      String id,
      TaskHandle task,
      Duration kept,
      Instant now,
      boolean detailed) {
    Instant created = task.created();
    Instant newest = updated == null || updated.isBefore(created) ? created : updated;
    Duration life = Duration.between(created, isRunning() ? now : newest).plus(kept);
    long ttl = Math.min(life.toMillis(), TaskHandle.LIFE.toMillis());
    edit.set(JsonEdit.quote(id), path, "taskId")
        .set(JsonEdit.quote(status()), path, "status")
        .set(JsonEdit.quote(created.toString()), path, "createdAt")
        .set(JsonEdit.quote(newest.toString()), path, "lastUpdatedAt")
        .set(Long.toString(ttl), path, "ttlMs")
        .set(Long.toString(POLL.toMillis()), path, "pollIntervalMs");
    if (!detailed) {
      return;
    }
    if (end == null) {
      questions.forEach((key, question) ->
          edit.set(ServerRequests.input(question.request()), path, "inputRequests", key.key()));
    } else if (!isCancelled(end)) {
      String member = isError(end) ? "error" : "result";
      edit.set(Objects.requireNonNull(JsonEdit.raw(end, member)), path, member);
    }
  }

  private String status() {
    if (end == null) {
      return questions.isEmpty() ? "working" : "input_required";
    }
    if (isCancelled(end)) {
      return "cancelled";
    }
    return isError(end) ? "failed" : "completed";
  }

  /** A client's cancellation ends the stream without a response, an operator's with an error. */
  private static boolean isCancelled(byte[] end) {
    return end.length == 0
        || String.valueOf(JsonRpcErrorCode.CANCELLED.code())
            .equals(JsonEdit.raw(end, "error", "code"));
  }

  private static boolean isError(byte[] response) {
    return JsonEdit.raw(response, "error") != null;
  }
}

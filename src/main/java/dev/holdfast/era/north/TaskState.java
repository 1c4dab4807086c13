package dev.holdfast.era.north;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of a task, as the stream of its call says (MCP 2026-07-28, Tasks).
 *
 * @param updated time of the newest event; null if there is none
 * @param asked requests of the server without an answer
 * @param end the response, or an empty message if the call was cancelled; null while it runs
 */
record TaskState(@Nullable Instant updated, ServerRequests asked, byte @Nullable [] end) {

  /** Time between two requests of a client that polls. */
  static final Duration POLL = Duration.ofSeconds(1);

  /** State of a task of which nothing is known yet. */
  static TaskState begun() {
    return new TaskState(null, new ServerRequests(), null);
  }

  boolean isRunning() {
    return end == null;
  }

  /**
   * Adds the members of the task to an object.
   *
   * @param path of the object
   * @param kept time for which the log keeps events
   */
  void addTo(JsonEdit edit, String path, String id, TaskHandle task, Duration kept, Instant now) {
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
  }

  /** Adds what the server asks or has answered. */
  void addDetailsTo(JsonEdit edit, String path) {
    if (end == null && !asked.isEmpty()) {
      edit.set(asked.toJson(), path, "inputRequests");
    } else if (end != null && !isCancelled(end)) {
      String member = isError(end) ? "error" : "result";
      edit.set(Objects.requireNonNull(JsonEdit.raw(end, member)), path, member);
    }
  }

  private String status() {
    if (end == null) {
      return asked.isEmpty() ? "working" : "input_required";
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

package dev.holdfast.redis;

import io.vertx.redis.client.Response;
import java.util.Set;

/** Tells failures that Redis, or the client before it wrote, declared from lost connections. */
final class Failures {

  /** What Vert.x fails commands with that it has not written. */
  private static final Set<String> NOT_WRITTEN =
      Set.of("Connection is closed", "Redis waiting queue is full");

  /** An error that Vert.x makes up for each command that waits on a connection which ends. */
  private static final String CONNECTION_CLOSED = "CONNECTION_CLOSED";

  private Failures() {}

  /**
   * Whether the command was certainly not executed. Redis checks what makes it refuse a script
   * (memory, disk, role) before the script's first write, so an error reply means that nothing was
   * written.
   */
  static boolean isRefusal(Throwable failure) {
    String message = failure.getMessage();
    if (message == null || message.contains(CONNECTION_CLOSED)) {
      return false;
    }
    return failure instanceof Response || NOT_WRITTEN.contains(message);
  }
}

package dev.holdfast.redis;

import io.vertx.redis.client.Response;

/** Tells failures that Redis, or the client before it wrote, declared from lost connections. */
final class Failures {

  /** What Vert.x fails commands with that it has not written. */
  private static final String CLOSED_BEFORE = "Connection is closed";

  private static final String OVERFLOW = "Redis waiting queue is full";

  /** An error that Vert.x makes up for each command that waits on a connection which ends. */
  private static final String CONNECTION_CLOSED = "CONNECTION_CLOSED";

  private Failures() {}

  /** Whether Redis itself says no. */
  static boolean isReply(Throwable failure) {
    return failure instanceof Response && !message(failure).contains(CONNECTION_CLOSED);
  }

  /** Whether too many commands wait on a connection that is well otherwise. */
  static boolean isOverflow(Throwable failure) {
    return message(failure).equals(OVERFLOW);
  }

  /**
   * Whether the command was certainly not executed. Redis checks what makes it refuse a script
   * (memory, disk, role) before the script's first write, so an error reply means that nothing was
   * written.
   */
  static boolean isRefusal(Throwable failure) {
    return isReply(failure) || isOverflow(failure) || message(failure).equals(CLOSED_BEFORE);
  }

  private static String message(Throwable failure) {
    return String.valueOf(failure.getMessage());
  }
}

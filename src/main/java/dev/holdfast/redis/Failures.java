package dev.holdfast.redis;

import io.vertx.redis.client.Response;
import java.util.regex.Pattern;

/** Tells failures that Redis, or the client before it wrote, declared from lost connections. */
final class Failures {

  /** What Vert.x fails commands with that it has not written. */
  private static final String CLOSED_BEFORE = "Connection is closed";

  private static final String OVERFLOW = "Redis waiting queue is full";

  /** An error that Vert.x makes up for each command that waits on a connection which ends. */
  private static final String CONNECTION_CLOSED = "CONNECTION_CLOSED";

  /**
   * Within the text: in that of a batch each error has a number before it, in a script's a name.
   */
  private static final Pattern NO_PRIMARY = Pattern.compile("\\b(READONLY|MASTERDOWN)\\b");

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

  /**
   * Whether the server says that it is a replica. After a failover that is the old primary, frozen
   * for a while or started again.
   */
  static boolean isNoPrimary(Throwable failure) {
    return isReply(failure) && NO_PRIMARY.matcher(message(failure)).find();
  }

  /** Whether the servers of a cluster don't agree at the moment who has the key. */
  static boolean isClusterDown(Throwable failure) {
    return isReply(failure) && message(failure).contains("CLUSTERDOWN");
  }

  private static String message(Throwable failure) {
    return String.valueOf(failure.getMessage());
  }
}

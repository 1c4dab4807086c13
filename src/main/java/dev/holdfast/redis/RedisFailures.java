package dev.holdfast.redis;

import io.vertx.redis.client.Response;
import java.util.regex.Pattern;

/** Classifies failures of Vert.x: error replies, commands never written, lost connections. */
final class RedisFailures {

  /** The message of Vert.x for a command that it has not written. */
  private static final String CLOSED_BEFORE_WRITE = "Connection is closed";

  private static final String OVERFLOW = "Redis waiting queue is full";

  /** The error reply that Vert.x makes up for each pending command when a connection ends. */
  private static final String CONNECTION_CLOSED = "CONNECTION_CLOSED";

  /** Matches anywhere: a batch puts a number before each error, a script puts its name. */
  private static final Pattern NO_PRIMARY = Pattern.compile("\\b(READONLY|MASTERDOWN)\\b");

  private static final Pattern FULL = Pattern.compile("\\bOOM\\b");

  private RedisFailures() {}

  static boolean isReply(Throwable failure) {
    return failure instanceof Response && !message(failure).contains(CONNECTION_CLOSED);
  }

  /** Returns true if too many commands wait on a connection that is otherwise healthy. */
  static boolean isOverflow(Throwable failure) {
    return message(failure).equals(OVERFLOW);
  }

  /**
   * Returns true if the command was certainly not executed. Redis refuses a script (for memory,
   * disk or role) before the script's first write. So an error reply means that nothing was
   * written.
   */
  static boolean isRefusal(Throwable failure) {
    return isReply(failure) || isOverflow(failure) || message(failure).equals(CLOSED_BEFORE_WRITE);
  }

  /**
   * Returns true if the server reports that it is a replica. After a failover the old primary
   * reports that, once it runs again.
   */
  static boolean isNoPrimary(Throwable failure) {
    return isReply(failure) && NO_PRIMARY.matcher(message(failure)).find();
  }

  /** Tells if the server refuses to take more data than its {@code maxmemory}. */
  static boolean isFull(Throwable failure) {
    return isReply(failure) && FULL.matcher(message(failure)).find();
  }

  /** Returns true if the cluster cannot serve the key at the moment. */
  static boolean isClusterDown(Throwable failure) {
    return isReply(failure) && message(failure).contains("CLUSTERDOWN");
  }

  private static String message(Throwable failure) {
    return String.valueOf(failure.getMessage());
  }
}

package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends this replica's commands over one pipelined connection, or over one to each primary of a
 * cluster. A connection is made at first use, and again at the first use after it broke. Redis
 * executes the commands of one thread on keys of one slot in the order in which they were sent.
 *
 * <p>Thread-safe. Meant for virtual threads: methods block until the reply arrives.
 */
public interface RedisClient extends AutoCloseable {

  /** Maximum number of commands without a reply on one connection: half of the limit of Vert.x. */
  int MAX_PENDING = 1024;

  /** Maximum number of commands in one write of {@link #sendMany}. */
  int BATCH_SIZE = MAX_PENDING / 2;

  /**
   * Sends a command and waits for its reply.
   *
   * @return the reply; null for a nil
   * @throws RedisException.Unavailable when Redis did not execute the command
   * @throws RedisException.UnknownOutcome when Redis may have executed the command
   */
  @Nullable Response send(Request request);

  /**
   * Sends commands in one write, or in one write for each primary, and waits for all replies.
   *
   * @param requests at most {@link #MAX_PENDING}
   * @return the replies in the order of the commands; null for a nil
   * @throws RedisException.Unavailable when Redis did not execute at least one
   * @throws RedisException.UnknownOutcome when Redis may have executed them
   */
  List<@Nullable Response> sendAll(List<Request> requests);

  /**
   * Sends any number of commands as {@link #sendAll} does, in batches that leave room for other
   * callers.
   */
  default List<@Nullable Response> sendMany(List<Request> requests) {
    List<@Nullable Response> replies = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += BATCH_SIZE) {
      int to = Math.min(requests.size(), from + BATCH_SIZE);
      replies.addAll(sendAll(requests.subList(from, to)));
    }
    return replies;
  }

  /**
   * Sends a command without waiting. Without a connection, or with too many commands pending on it,
   * the command is not sent; the client then begins to connect.
   *
   * @return completes with the reply, or with a {@link RedisException}; completes on a thread that
   *     must not be blocked
   */
  CompletionStage<@Nullable Response> sendLater(Request request);

  /** A number in a reply; 0 for a nil. */
  static long number(@Nullable Response reply) {
    return reply == null ? 0 : Long.parseLong(reply.toString());
  }

  /** The time of Redis in ms since the epoch. On a cluster it is the time of any server. */
  default long currentMillis() {
    Response time = Objects.requireNonNull(send(Request.cmd(Command.TIME)));
    return number(time.get(0)) * 1000 + number(time.get(1)) / 1000;
  }

  /**
   * Checks that the data in Redis is that of this program.
   *
   * @throws RedisException when it is not, or Redis does not answer
   */
  default void requireLayout() {}

  /**
   * Checks that a primary accepts writes and scripts, without writing anything. On a cluster one of
   * them is enough: while another one is away, the sessions of this one go on.
   *
   * @param key a key that does not exist; on a cluster, hash tags are appended to it
   * @throws RedisException when no primary does
   */
  void check(String key);

  /**
   * Returns true if this key is on a server of a cluster that could not be reached, while others
   * may go on. Tries to reach it again, without waiting. Returns false without a cluster: then all
   * keys are away, or none.
   */
  default boolean isAway(String key) {
    return false;
  }

  /**
   * Runs a command on a key. If that fails, and its server {@linkplain #isAway is away}, returns a
   * substitute, so that keys of other servers can be used meanwhile.
   */
  default <T extends @Nullable Object> T unlessAway(String key, Supplier<T> command, T substitute) {
    try {
      return command.get();
    } catch (RedisException failure) {
      if (isAway(key)) {
        return substitute;
      }
      throw failure;
    }
  }

  /**
   * Makes a Vert.x client for a subscription, which needs a connection of its own. On a cluster it
   * connects to any server, since all servers forward published messages.
   */
  Redis newSubscriptionClient();

  /**
   * Returns true if messages and writes may be lost while this program stays connected: servers of
   * a cluster pass messages on to each other, and one may fail over while the others go on.
   */
  default boolean mayLoseMessages() {
    return false;
  }

  /** Closes all connections for good. */
  @Override
  void close();

  /**
   * Observes every exchange with Redis, for metrics. Methods run on the connection's thread and
   * must return at once.
   */
  interface Listener {

    /** Ignores everything. */
    Listener NONE = new Listener() {};

    /**
     * Redis replied to everything that was sent in one write, possibly with errors.
     *
     * @param nanos from the write to the last reply; not a {@code Duration}, to save the allocation
     *     per command
     */
    default void answered(long nanos) {}

    /** The connection ended before the reply. */
    default void unanswered() {}
  }

  /**
   * A write that changes nothing, in a script. Redis refuses it whenever it refuses writes: for
   * lack of memory, disk or replicas, or because the server is a replica. It refuses it also to a
   * user that may not run scripts.
   */
  static Request noOpWrite(String key) {
    return Request.cmd(Command.EVAL, "return redis.call('SETRANGE', KEYS[1], 0, '')", 1, key);
  }
}

package dev.holdfast.redis;

import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What carries this replica's commands: one pipelined connection, or one for each shard of a
 * cluster. Each is made at the first use, and made anew at the first use after it broke. The
 * commands of one thread on keys of one slot are executed in the order in which they were sent.
 *
 * <p>Thread-safe; meant for virtual threads, which block until the reply is there.
 */
public final class RedisLink implements AutoCloseable {

  /** Half of what a Vert.x connection lets wait for replies unless told otherwise. */
  public static final int MAX_UNDER_WAY = 1024;

  /** How many of them one caller takes at a time who has more. */
  public static final int AT_ONCE = MAX_UNDER_WAY / 2;

  private final RedisRoute route;

  /**
   * Connects nowhere yet.
   *
   * @param clients makes a client of its own for each connection, which is closed with it; must let
   *     more than {@link #MAX_UNDER_WAY} commands wait on a connection
   * @param timeout how long Redis may be silent before the outcome of a command is given up on; to
   *     make a connection may take as long once more
   */
  public RedisLink(Supplier<Redis> clients, Duration timeout) {
    this.route = new RedisNode(clients, false, timeout);
  }

  /**
   * Connects nowhere yet.
   *
   * @param options where Redis is, and of which kind: a server, servers that sentinels watch, or a
   *     cluster
   * @param timeout as above
   * @throws IllegalArgumentException when it is of another kind
   */
  public RedisLink(Vertx vertx, RedisOptions options, Duration timeout) {
    this(vertx, options, timeout, RedisListener.NONE);
  }

  /** As above, and tells a listener of every exchange with a server. */
  public RedisLink(Vertx vertx, RedisOptions options, Duration timeout, RedisListener listener) {
    RedisServers servers = new RedisServers(vertx, options);
    this.route =
        switch (options.getType()) {
          case STANDALONE -> new RedisNode(servers::configured, false, timeout, listener);
          case SENTINEL -> new RedisNode(servers::configured, true, timeout, listener);
          case CLUSTER -> new RedisCluster(servers, timeout, listener);
          case REPLICATION ->
              throw new IllegalArgumentException(
                  "Redis as " + RedisClientType.REPLICATION + " finds no new primary by itself");
        };
  }

  /**
   * Sends a command and waits for its reply.
   *
   * @return the reply; null for a nil
   * @throws RedisUnavailableException when it was not executed
   * @throws RedisUnknownOutcomeException when it may have been executed
   */
  public @Nullable Response send(Request request) {
    return route.send(request);
  }

  /**
   * Sends commands in one write, or in one for each shard that they concern, and waits for all
   * replies.
   *
   * @param requests at most {@link #MAX_UNDER_WAY}
   * @return the replies in the order of the commands; null for a nil
   * @throws RedisUnavailableException when at least one was not executed
   * @throws RedisUnknownOutcomeException when they may have been executed
   */
  public List<@Nullable Response> sendAll(List<Request> requests) {
    return route.sendAll(requests);
  }

  /**
   * Sends any number of commands as {@link #sendAll} does, so many at a time that others find room
   * on the connection too.
   */
  public List<@Nullable Response> sendMany(List<Request> requests) {
    List<@Nullable Response> replies = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += AT_ONCE) {
      int to = Math.min(requests.size(), from + AT_ONCE);
      replies.addAll(sendAll(requests.subList(from, to)));
    }
    return replies;
  }

  /**
   * Sends a command without waiting. When there is no connection at the moment, or too much under
   * way on it, the command is not sent; the connection is then begun.
   *
   * @return completes with the reply, or with a {@link RedisException}; completes on a thread that
   *     must not be blocked
   */
  public CompletionStage<@Nullable Response> sendLater(Request request) {
    return route.sendLater(request);
  }

  /**
   * Tries whether Redis takes writes, each shard of it, without writing anything.
   *
   * @param key one that is not there; on a cluster, tags are put behind it
   * @throws RedisException when at least one doesn't
   */
  public void check(String key) {
    route.check(key);
  }

  /**
   * Makes a client for a connection of somebody's own, for subscriptions. On a cluster it leads to
   * any server, since all hear what is published on one.
   */
  public Redis newClient() {
    return route.newClient();
  }

  /** Closes all connections for good. */
  @Override
  public void close() {
    route.close();
  }
}

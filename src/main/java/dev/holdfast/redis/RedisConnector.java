package dev.holdfast.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * One connection, from its start to its end.
 *
 * <p>Each has a Redis client of its own. A connection of a pool is not closed when it is given
 * back, so one whose replies are overdue would come back into use; closing the client closes the
 * socket for certain, also one that is still connecting.
 */
final class RedisConnector {

  private final Redis client;
  private final CompletableFuture<RedisConnection> connection = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final AtomicBoolean dropped = new AtomicBoolean();

  /** By {@link System#nanoTime()}. Written by the connection's thread. */
  private volatile long lastHeard = System.nanoTime();

  /**
   * Begins to connect.
   *
   * @param primary whether to connect only to a primary
   */
  RedisConnector(Supplier<Redis> clients, boolean primary) {
    client = clients.get();
    client
        .connect()
        .compose(opened -> {
          opened.exceptionHandler(failure -> drop());
          opened.endHandler(end -> drop());
          return primary ? requirePrimary(opened) : Future.succeededFuture(opened);
        })
        .onComplete(
            connection::complete,
            failure -> {
              connection.completeExceptionally(failure);
              drop();
            });
  }

  /**
   * What a sentinel says can be behind what is so: who is asked says best which role it has. One
   * that doesn't let us ask is known by its refusal of the first write.
   */
  private static Future<RedisConnection> requirePrimary(RedisConnection opened) {
    return opened
        .send(Request.cmd(Command.ROLE))
        .transform(asked -> {
          if (asked.failed()) {
            boolean forbidden = String.valueOf(asked.cause().getMessage()).startsWith("NOPERM");
            return forbidden ? Future.succeededFuture(opened) : Future.failedFuture(asked.cause());
          }
          String role = asked.result().get(0).toString();
          return role.equals("master")
              ? Future.succeededFuture(opened)
              : Future.failedFuture("connected to a server with the role " + role);
        });
  }

  /** The connection, once it stands; fails when it could not be made or was dropped before. */
  CompletableFuture<RedisConnection> connection() {
    return connection;
  }

  /** Completes when the connection is of no more use, for whatever reason. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  /** A reply has come. */
  void heard() {
    lastHeard = System.nanoTime();
  }

  /** Whether no reply has come for so long. */
  boolean isSilentFor(Duration time) {
    return System.nanoTime() - lastHeard >= time.toNanos();
  }

  /** Closes the socket. Commands under way fail; their replies will not be read. */
  void drop() {
    if (dropped.compareAndSet(false, true)) {
      ended.complete(null);
      connection.completeExceptionally(new RedisUnavailableException("connection dropped", null));
      client.close();
    }
  }
}

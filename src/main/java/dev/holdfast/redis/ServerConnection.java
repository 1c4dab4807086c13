package dev.holdfast.redis;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a server, from connect to close.
 *
 * <p>Each connection has its own Vert.x client. A shared pool would reuse a connection with overdue
 * replies, since Vert.x does not close a returned connection. Closing the client always closes the
 * socket, even while it connects.
 */
final class ServerConnection {

  private final Redis client;
  private final CompletableFuture<RedisConnection> established = new CompletableFuture<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** By {@link System#nanoTime()}. Written by the connection's thread. */
  private volatile long lastReply = System.nanoTime();

  /** Runs on the connection's thread; null until it is established. */
  private volatile @Nullable Context context;

  private ServerConnection(Redis client) {
    this.client = client;
  }

  /**
   * Begins to connect.
   *
   * @param client a client of this connection's own
   * @param primaryOnly whether to connect only to a server that has the role of a primary
   */
  static ServerConnection connect(Redis client, boolean primaryOnly) {
    ServerConnection connection = new ServerConnection(client);
    client
        .connect()
        .compose(opened -> {
          connection.context = Vertx.currentContext();
          opened.exceptionHandler(failure -> connection.close());
          opened.endHandler(end -> connection.close());
          return primaryOnly ? requirePrimary(opened) : Future.succeededFuture(opened);
        })
        .onComplete(
            connection.established::complete,
            failure -> {
              connection.established.completeExceptionally(failure);
              connection.close();
            });
    return connection;
  }

  /**
   * Asks the server for its role, since the answer of a sentinel can be outdated. A server may
   * forbid the command. If such a server is not a primary, it refuses the first write.
   */
  private static Future<RedisConnection> requirePrimary(RedisConnection opened) {
    return opened
        .send(Request.cmd(Command.ROLE))
        .transform(reply -> {
          if (reply.failed()) {
            boolean forbidden = String.valueOf(reply.cause().getMessage()).startsWith("NOPERM");
            return forbidden ? Future.succeededFuture(opened) : Future.failedFuture(reply.cause());
          }
          String role = reply.result().get(0).toString();
          return role.equals("master")
              ? Future.succeededFuture(opened)
              : Future.failedFuture("connected to a server with the role " + role);
        });
  }

  /** Completes when the connection is established; fails if it never is. */
  CompletableFuture<RedisConnection> established() {
    return established;
  }

  /** Completes when the connection is closed, for whatever reason. */
  CompletableFuture<Void> closed() {
    return closed;
  }

  boolean isEstablished() {
    return established.isDone() && !established.isCompletedExceptionally() && !isClosed();
  }

  boolean isClosed() {
    return closed.isDone();
  }

  void replyReceived() {
    lastReply = System.nanoTime();
  }

  /**
   * Completes with true if no reply has come for so long. First the thread of the connection reads
   * what has arrived: after a pause of this process, it may be late.
   */
  CompletableFuture<Boolean> isSilentFor(Duration time) {
    CompletableFuture<Boolean> silent = new CompletableFuture<>();
    Context thread = Objects.requireNonNull(context);
    // A timer ends after the thread has read what there is.
    thread.runOnContext(_ ->
        thread
            .owner()
            .setTimer(1, _ -> silent.complete(System.nanoTime() - lastReply >= time.toNanos())));
    return silent;
  }

  /** Closes the socket. Pending commands fail, and their replies are not read. */
  void close() {
    if (closed.complete(null)) {
      established.completeExceptionally(new RedisException.Unavailable("connection closed", null));
      client.close();
    }
  }
}

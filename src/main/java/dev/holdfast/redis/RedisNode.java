package dev.holdfast.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one pipelined connection to one server. It is made at the first use, and made anew at the
 * first use after it broke; with Sentinel, that leads to whichever server is the primary by then.
 */
final class RedisNode implements RedisRoute {

  private final Supplier<Redis> clients;
  private final boolean primary;
  private final Duration timeout;
  private final RedisListener listener;
  private final Semaphore slots = new Semaphore(RedisLink.MAX_UNDER_WAY);

  private final ReentrantLock lock = new ReentrantLock();

  /** Written under the lock, so that only one connection is made at a time. */
  private volatile @Nullable RedisConnector current;

  private volatile boolean closed;

  /**
   * Connects nowhere yet.
   *
   * @param clients makes a client of its own for each connection, which is closed with it
   * @param primary whether a connection is of use only if it leads to a primary
   * @param timeout how long the server may be silent before the outcome of a command is given up
   *     on; to make a connection may take as long once more
   */
  RedisNode(Supplier<Redis> clients, boolean primary, Duration timeout) {
    this(clients, primary, timeout, RedisListener.NONE);
  }

  /** As above, and tells a listener of every exchange. */
  RedisNode(Supplier<Redis> clients, boolean primary, Duration timeout, RedisListener listener) {
    this.clients = clients;
    this.primary = primary;
    this.timeout = timeout;
    this.listener = listener;
  }

  @Override
  public @Nullable Response send(Request request) {
    return exchange(1, connection -> connection.send(request));
  }

  @Override
  public List<@Nullable Response> sendAll(List<Request> requests) {
    return exchange(requests.size(), connection -> connection.batch(requests));
  }

  @Override
  public CompletionStage<@Nullable Response> sendLater(Request request) {
    try {
      RedisConnector connector = connector();
      CompletableFuture<RedisConnection> connecting = connector.connection();
      if (!connecting.isDone() || connecting.isCompletedExceptionally()) {
        return CompletableFuture.failedFuture(unavailable("not connected", null));
      }
      if (!slots.tryAcquire()) {
        return CompletableFuture.failedFuture(unavailable("too much under way", null));
      }
      CompletableFuture<@Nullable Response> result = new CompletableFuture<>();
      var _ =
          write(1, connector, connecting.resultNow(), connection -> connection.send(request))
              .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
              .whenComplete((reply, failure) -> {
                if (failure == null) {
                  result.complete(reply);
                } else {
                  result.completeExceptionally(typed(connector, failure));
                }
              });
      return result;
    } catch (RedisException unavailable) {
      return CompletableFuture.failedFuture(unavailable);
    }
  }

  @Override
  public void check(String key) {
    send(RedisRoute.idleWrite(key));
  }

  @Override
  public Redis newClient() {
    return clients.get();
  }

  /** Whether there is a connection at the moment. */
  boolean isConnected() {
    RedisConnector connector = current;
    return connector != null
        && !connector.ended().isDone()
        && connector.connection().isDone()
        && !connector.connection().isCompletedExceptionally();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      RedisConnector connector = current;
      if (connector != null) {
        connector.drop();
      }
    } finally {
      lock.unlock();
    }
  }

  private <T extends @Nullable Object> T exchange(
      int commands, Function<RedisConnection, Future<T>> command) {
    RedisConnector connector = connector();
    RedisConnection connection = await(connector);
    acquire(commands);
    try {
      return await(connector, write(commands, connector, connection, command));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisUnknownOutcomeException("interrupted before the reply", interrupted);
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      throw typed(connector, cause == null ? failed : cause);
    } catch (TimeoutException late) {
      throw typed(connector, late);
    }
  }

  /**
   * Waits for a reply, for as long as there are any: replies come in the order of the commands, so
   * while others arrive this one is only behind a long queue, and Redis is not away.
   */
  private <T extends @Nullable Object> T await(RedisConnector connector, CompletableFuture<T> reply)
      throws InterruptedException, ExecutionException, TimeoutException {
    while (true) {
      try {
        return reply.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException late) {
        if (connector.isSilentFor(timeout)) {
          throw late;
        }
      }
    }
  }

  private <T extends @Nullable Object> CompletableFuture<T> write(
      int commands,
      RedisConnector connector,
      RedisConnection connection,
      Function<RedisConnection, Future<T>> command) {
    CompletableFuture<T> reply = new CompletableFuture<>();
    long written = System.nanoTime();
    command
        .apply(connection)
        .onComplete(
            value -> {
              slots.release(commands);
              connector.heard();
              listener.answered(System.nanoTime() - written);
              reply.complete(value);
            },
            failure -> {
              slots.release(commands);
              if (Failures.isReply(failure)) {
                listener.answered(System.nanoTime() - written);
              } else {
                listener.unanswered();
              }
              reply.completeExceptionally(failure);
            });
    return reply;
  }

  private void acquire(int commands) {
    try {
      if (!slots.tryAcquire(commands, timeout.toNanos(), TimeUnit.NANOSECONDS)) {
        throw unavailable("too much under way", null);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted before the command was sent", interrupted);
    }
  }

  /** The connection of now, or a new one that has just begun to connect. */
  private RedisConnector connector() {
    RedisConnector connector = current;
    if (connector != null && !connector.ended().isDone()) {
      return connector;
    }
    lock.lock();
    try {
      connector = current;
      if (connector == null || connector.ended().isDone()) {
        if (closed) {
          throw unavailable("the connection is closed for good", null);
        }
        connector = new RedisConnector(clients, primary);
        current = connector;
      }
      return connector;
    } finally {
      lock.unlock();
    }
  }

  private RedisConnection await(RedisConnector connector) {
    CompletableFuture<RedisConnection> connecting = connector.connection();
    try {
      return connecting.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted before the command was sent", interrupted);
    } catch (ExecutionException failed) {
      throw unavailable("no connection", failed.getCause());
    } catch (TimeoutException late) {
      connector.drop();
      throw unavailable("no connection in time", late);
    }
  }

  /**
   * Says what a failure left behind. After a silence the connection is dropped: Redis may be frozen
   * or gone without a word, and everything behind this command would wait as long again. A broken
   * one is dropped here too, since word of its end can come after the failures of its commands: who
   * has heard of one shall not meet the same connection again. A server that is no primary any more
   * says so, and is left too.
   */
  private RedisException typed(RedisConnector connector, Throwable failure) {
    if (failure instanceof TimeoutException) {
      if (connector.isSilentFor(timeout)) {
        connector.drop();
      }
      return new RedisUnknownOutcomeException("no reply in time", failure);
    }
    boolean healthy = Failures.isReply(failure) || Failures.isOverflow(failure);
    if (!healthy || Failures.isNoPrimary(failure)) {
      connector.drop();
    }
    return Failures.isRefusal(failure)
        ? unavailable(String.valueOf(failure.getMessage()), failure)
        : new RedisUnknownOutcomeException("connection lost before the reply", failure);
  }

  private static RedisUnavailableException unavailable(String why, @Nullable Throwable cause) {
    return new RedisUnavailableException(why, cause);
  }
}

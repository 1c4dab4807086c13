package dev.holdfast.redis;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.text.Reason;
import dev.holdfast.timer.TimeLimit;
import io.vertx.core.Future;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One pipelined connection to one server. The client connects at first use, and again at the first
 * use after the connection broke. With sentinels, a new connection leads to the primary that they
 * name at that time.
 */
final class ServerClient implements RedisClient {

  private static final Logger LOG = Logger.getLogger(ServerClient.class);

  /** Time limit of a command for the connection, after an attempt to connect has failed. */
  private static final Duration SHORT_WAIT = Duration.ofMillis(250);

  /** A Redis at its limit takes small commands again, and refuses the next large one. */
  private static final Duration FULL_FOR = Duration.ofSeconds(10);

  private final Supplier<Redis> clients;
  private final boolean primaryOnly;
  private final Duration timeout;
  private final RedisClient.Listener listener;
  private final Semaphore sendPermits = new Semaphore(MAX_PENDING);

  private final AutoLock lock = new AutoLock();

  /** Written under the lock, so that only one thread connects. */
  private volatile @Nullable ServerConnection current;

  private volatile boolean closed;

  /** True if the last attempt to connect has failed. */
  private volatile boolean unreachable;

  /** Nano time of the last command that Redis refused for lack of memory; null if there is none. */
  private volatile @Nullable Long fullAt;

  /**
   * Does not connect yet.
   *
   * @param clients makes a Vert.x client for each connection; the connection closes it
   * @param primaryOnly whether to connect only to a server that has the role of a primary
   * @param timeout how long the server may be silent before this client gives up on a command; also
   *     the time limit for connecting
   * @param listener observes every exchange
   */
  ServerClient(
      Supplier<Redis> clients,
      boolean primaryOnly,
      Duration timeout,
      RedisClient.Listener listener) {
    this.clients = clients;
    this.primaryOnly = primaryOnly;
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
    CompletableFuture<@Nullable Response> result = new CompletableFuture<>();
    try {
      ServerConnection connection = connection();
      if (!connection.isEstablished()) {
        throw new RedisException.Unavailable("not connected", null);
      }
      if (!sendPermits.tryAcquire()) {
        throw new RedisException.Unavailable("too many commands pending", null);
      }
      CompletableFuture<@Nullable Response> answer =
          write(1, connection, established -> established.send(request));
      var _ =
          answer.whenComplete((reply, failure) -> {
            if (failure == null) {
              result.complete(reply);
            } else {
              result.completeExceptionally(classifyLater(connection, failure));
            }
          });
      limitSilence(connection, answer);
    } catch (RedisException notSent) {
      result.completeExceptionally(notSent);
    }
    return result;
  }

  /** Fails an answer when nothing arrives for too long, as {@link #awaitReply} does. */
  private void limitSilence(ServerConnection connection, CompletableFuture<?> answer) {
    TimeLimit limit =
        TimeLimit.start(
            timeout,
            () -> {
              var _ =
                  connection
                      .isSilentFor(timeout)
                      .thenAccept(silent -> {
                        if (silent) {
                          answer.completeExceptionally(new TimeoutException());
                        } else {
                          limitSilence(connection, answer);
                        }
                      });
            });
    var _ = answer.whenComplete((_, _) -> limit.close());
  }

  @Override
  public void check(String key) {
    send(RedisClient.noOpWrite(key));
    if (wasFull()) {
      throw new RedisException.Unavailable("Redis is full", null);
    }
  }

  private boolean wasFull() {
    Long full = fullAt;
    return full != null && System.nanoTime() - full < FULL_FOR.toNanos();
  }

  @Override
  public Redis newSubscriptionClient() {
    return clients.get();
  }

  boolean isConnected() {
    ServerConnection connection = current;
    return connection != null && connection.isEstablished();
  }

  /**
   * Returns true if the connection has ended, and no other one is established. Then it begins to
   * connect.
   */
  boolean isUnreachable() {
    ServerConnection connection = current;
    if (closed || connection == null || connection.isEstablished()) {
      return closed;
    }
    boolean ended = connection.isClosed() || unreachable;
    ServerConnection _ = connection();
    return ended;
  }

  @Override
  public void close() {
    try (var _ = lock.hold()) {
      closed = true;
      ServerConnection connection = current;
      if (connection != null) {
        connection.close();
      }
    }
  }

  private <T extends @Nullable Object> T exchange(
      int commands, Function<RedisConnection, Future<T>> command) {
    ServerConnection connection = connection();
    try {
      awaitEstablished(connection);
      if (!sendPermits.tryAcquire(commands, timeout.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new RedisException.Unavailable("too many commands pending", null);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisException.Unavailable("interrupted before the command was sent", interrupted);
    }
    try {
      return awaitReply(connection, write(commands, connection, command));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisException.UnknownOutcome("interrupted before the reply", interrupted);
    } catch (ExecutionException failed) {
      throw classify(connection, Objects.requireNonNullElse(failed.getCause(), failed));
    } catch (TimeoutException late) {
      throw classify(connection, late);
    }
  }

  /** The current connection, or a new one that has begun to connect. */
  private ServerConnection connection() {
    ServerConnection connection = current;
    if (connection != null && !connection.isClosed()) {
      return connection;
    }
    try (var _ = lock.hold()) {
      connection = current;
      if (connection == null || connection.isClosed()) {
        if (closed) {
          throw new RedisException.Unavailable("the client is closed", null);
        }
        connection = connect();
        current = connection;
      }
      return connection;
    }
  }

  private ServerConnection connect() {
    ServerConnection connection = ServerConnection.connect(clients.get(), primaryOnly);
    TimeLimit limit = TimeLimit.start(timeout, connection::close);
    var _ =
        connection
            .established()
            .whenComplete((_, failure) -> {
              limit.close();
              unreachable = failure != null;
            });
    return connection;
  }

  private void awaitEstablished(ServerConnection connection) throws InterruptedException {
    Duration wait = unreachable ? SHORT_WAIT : timeout;
    try {
      RedisConnection _ = connection.established().get(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      throw new RedisException.Unavailable("no connection", failed.getCause());
    } catch (TimeoutException late) {
      throw new RedisException.Unavailable("no connection in time", late);
    }
  }

  /**
   * Waits as long as replies arrive. Redis replies in the order of the commands, so arriving
   * replies mean that this command waits behind a long queue.
   */
  private <T extends @Nullable Object> T awaitReply(
      ServerConnection connection, CompletableFuture<T> reply)
      throws InterruptedException, ExecutionException, TimeoutException {
    while (!TimeLimit.await(reply, timeout)) {
      CompletableFuture<Boolean> silent = connection.isSilentFor(timeout);
      if (TimeLimit.await(silent, timeout) && silent.resultNow() && !reply.isDone()) {
        throw new TimeoutException();
      }
    }
    return reply.get();
  }

  private <T extends @Nullable Object> CompletableFuture<T> write(
      int commands, ServerConnection connection, Function<RedisConnection, Future<T>> command) {
    CompletableFuture<T> reply = new CompletableFuture<>();
    long written = System.nanoTime();
    command
        .apply(connection.established().resultNow())
        .onComplete(
            value -> {
              sendPermits.release(commands);
              connection.replyReceived();
              listener.answered(System.nanoTime() - written);
              reply.complete(value);
            },
            failure -> {
              sendPermits.release(commands);
              if (RedisFailures.isReply(failure)) {
                listener.answered(System.nanoTime() - written);
              } else {
                listener.unanswered();
              }
              reply.completeExceptionally(failure);
            });
    return reply;
  }

  /**
   * Classifies a failure, and closes a connection that is not usable any more:
   *
   * <ul>
   *   <li>A silent connection: Redis may be frozen or unreachable, so later commands would wait.
   *   <li>A broken connection: its commands can fail before its end is reported, and no caller may
   *       get this connection again.
   *   <li>A connection to a server that is not a primary any more.
   * </ul>
   */
  private RedisException classify(ServerConnection connection, Throwable failure) {
    if (failure instanceof TimeoutException) {
      connection.close();
      return new RedisException.UnknownOutcome("no reply in time", failure);
    }
    if (RedisFailures.isFull(failure)) {
      boolean isNew = !wasFull();
      fullAt = System.nanoTime();
      if (isNew) {
        LOG.warnf("Redis is full reason=%s", Reason.of(failure));
      }
    }
    boolean healthy = RedisFailures.isReply(failure) || RedisFailures.isOverflow(failure);
    if (!healthy || RedisFailures.isNoPrimary(failure)) {
      connection.close();
    }
    return RedisFailures.isRefusal(failure)
        ? new RedisException.Unavailable(String.valueOf(failure.getMessage()), failure)
        : new RedisException.UnknownOutcome("connection lost before the reply", failure);
  }

  /** Classifies a failure whose caller would wait for ever if this threw an exception. */
  private Throwable classifyLater(ServerConnection connection, Throwable failure) {
    try {
      return classify(connection, failure);
    } catch (Throwable unexpected) {
      return unexpected;
    }
  }
}

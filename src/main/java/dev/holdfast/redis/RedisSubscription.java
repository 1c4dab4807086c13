package dev.holdfast.redis;

import dev.holdfast.retry.Backoff;
import dev.holdfast.text.Reason;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * This replica's subscription to its own channel, on a connection of its own. It subscribes again
 * whenever the connection is lost or silent. To detect silence, the replica publishes a probe to
 * itself at each interval. Three missed probes end the connection.
 *
 * <p>Redis drops messages that are published without a subscription. So each subscription notifies
 * the listeners that they may have missed messages.
 */
public final class RedisSubscription implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(RedisSubscription.class);
  private static final String PROBE = "*";
  private static final int MAX_MISSED_PROBES = 3;

  private final Supplier<Redis> clients;
  private final RedisClient commands;
  private final String channel;
  private final Duration probeInterval;

  /** Time limit for the silence of a connection, and for the subscription. */
  private final Duration timeout;

  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> onSubscribed = new CopyOnWriteArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /** True after the first subscription. Written by the connection's thread. */
  private volatile boolean wasSubscribed;

  /**
   * Time of the first probe that Redis answered, or did not, since the last message; null if there
   * was none. By {@link System#nanoTime()}. A probe that waits behind other commands says nothing.
   */
  private volatile @Nullable Long probed;

  /** Reason for which Redis refused the last subscription; null when it did not. */
  private volatile @Nullable String refusal;

  /** Written by {@link #start()} only. */
  private volatile @Nullable Thread thread;

  /**
   * Does not connect yet.
   *
   * @param clients makes a Vert.x client for each connection
   * @param commands publishes the probes
   * @param channel the channel's full name
   * @param probeInterval time between probes
   */
  public RedisSubscription(
      Supplier<Redis> clients, RedisClient commands, String channel, Duration probeInterval) {
    this.clients = clients;
    this.commands = commands;
    this.channel = channel;
    this.probeInterval = probeInterval;
    this.timeout = probeInterval.multipliedBy(MAX_MISSED_PROBES);
  }

  /**
   * Adds a listener. Both callbacks must return at once.
   *
   * @param listener receives every message
   * @param mayHaveMissed runs after each subscription, since messages may have been missed
   */
  public void addListener(Consumer<String> listener, Runnable mayHaveMissed) {
    listeners.add(listener);
    onSubscribed.add(mayHaveMissed);
  }

  /** Begins to subscribe, on a thread of its own. May be called once. */
  public void start() {
    thread = Thread.ofVirtual().name("redis-subscription").start(this::run);
  }

  /**
   * Checks that this replica receives messages. A lost connection that is replaced at once does not
   * count.
   *
   * @throws RedisException.Unavailable when no message arrived for three probe intervals
   */
  public void check() {
    if (!wasSubscribed || isSilent()) {
      String why = refusal;
      throw new RedisException.Unavailable(
          "the subscription receives nothing" + (why == null ? "" : ": " + why), null);
    }
  }

  /**
   * Subscribes and disconnects.
   *
   * @throws RedisException.Unavailable when Redis does not let this replica subscribe
   */
  public void tryOnce() {
    ServerConnection connection = ServerConnection.connect(clients.get(), false);
    try {
      subscribe(connection);
    } catch (ExecutionException | TimeoutException failed) {
      throw new RedisException.Unavailable("cannot subscribe: " + Reason.of(failed), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisException.Unavailable("interrupted", interrupted);
    } finally {
      connection.close();
    }
  }

  private boolean isSilent() {
    Long since = probed;
    return since != null && System.nanoTime() - since >= timeout.toNanos();
  }

  /** Unsubscribes and disconnects. */
  @Override
  public void close() {
    closed.countDown();
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }

  private void run() {
    Backoff backoff = Backoff.STORE;
    try {
      while (closed.getCount() > 0) {
        backoff = serveOneConnection() ? backoff.reset() : backoff.next();
        if (closed.await(backoff.delay().toMillis(), TimeUnit.MILLISECONDS)) {
          return;
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns when the connection is lost or silent. The result is whether it subscribed. */
  private boolean serveOneConnection() throws InterruptedException {
    heardNothing();
    ServerConnection connection = ServerConnection.connect(clients.get(), false);
    try {
      subscribe(connection);
      onSubscribed.forEach(Runnable::run);
      wasSubscribed = true;
      refusal = null;
      probeUntilLost(connection);
      return true;
    } catch (ExecutionException | TimeoutException failed) {
      noteRefusal(failed);
      return false;
    } finally {
      connection.close();
    }
  }

  private void noteRefusal(Exception failed) {
    Throwable cause = failed.getCause();
    if (cause == null || !RedisFailures.isReply(cause)) {
      LOG.debug("Subscribing to Redis failed", failed);
      return;
    }
    String why = Reason.of(cause);
    if (!why.equals(refusal)) {
      LOG.warnf("Redis refuses the subscription channel=%s reason=%s", channel, why);
    }
    refusal = why;
  }

  private void subscribe(ServerConnection connection)
      throws InterruptedException, ExecutionException, TimeoutException {
    RedisConnection established =
        connection.established().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    CompletableFuture<Void> acknowledged = new CompletableFuture<>();
    // Set the handler before the command: it receives the acknowledgement, which is not a reply.
    established.handler(message -> handle(message, acknowledged));
    established.send(Request.cmd(Command.SUBSCRIBE, channel));
    CompletableFuture.anyOf(acknowledged, connection.closed())
        .get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    if (!acknowledged.isDone()) {
      throw new TimeoutException("connection lost before it was subscribed");
    }
  }

  /** Handles an array of RESP2 or a push of RESP3. Both hold kind, channel and message. */
  private void handle(@Nullable Response message, CompletableFuture<Void> acknowledged) {
    if (message instanceof Throwable refused) {
      acknowledged.completeExceptionally(refused);
      return;
    }
    if (message == null || message.size() != 3) {
      return;
    }
    String kind = message.get(0).toString();
    if (kind.equals("subscribe")) {
      probed = null;
      acknowledged.complete(null);
    } else if (kind.equals("message")) {
      probed = null;
      String text = message.get(2).toString();
      if (!text.equals(PROBE)) {
        listeners.forEach(listener -> listener.accept(text));
      }
    }
  }

  private void probe() {
    try {
      Response _ = commands.send(Request.cmd(Command.PUBLISH, channel, PROBE));
    } catch (RedisException away) {
      LOG.tracef("probe not published: %s", away.getMessage());
    }
    heardNothing();
  }

  private void heardNothing() {
    if (probed == null) {
      probed = System.nanoTime();
    }
  }

  private void probeUntilLost(ServerConnection connection)
      throws InterruptedException, ExecutionException {
    while (!isSilent()) {
      probe();
      try {
        connection.closed().get(probeInterval.toNanos(), TimeUnit.NANOSECONDS);
        return;
      } catch (TimeoutException stillConnected) {
        LOG.trace("Still subscribed");
      }
    }
    LOG.warn("subscription to Redis receives nothing, subscribing again");
  }
}

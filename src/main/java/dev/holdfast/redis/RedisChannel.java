package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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
import org.jspecify.annotations.Nullable;

/**
 * The one connection on which this replica is told things by others. It subscribes to one channel
 * and does so again whenever the connection is lost, or is deaf: every beat this replica sends
 * itself a message, and when none came for three beats it begins anew.
 *
 * <p>What was published while there was no subscription is lost, so after each subscription the
 * listeners are told to look for themselves.
 */
public final class RedisChannel implements AutoCloseable {

  private static final Logger LOG = System.getLogger(RedisChannel.class.getName());
  private static final String BEAT = "*";
  private static final int DEAF_AFTER_BEATS = 3;
  private static final Duration MAX_BACK_OFF = Duration.ofSeconds(2);
  private static final Duration MIN_BACK_OFF = Duration.ofMillis(20);

  private final Supplier<Redis> clients;
  private final RedisLink link;
  private final String channel;
  private final Duration beat;

  /** How long a connection may be silent, or take to subscribe. */
  private final Duration patience;

  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> subscribed = new CopyOnWriteArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final CompletableFuture<Void> first = new CompletableFuture<>();

  /** By {@link System#nanoTime()}. Written by the connection's thread, read by the keeper's. */
  private volatile long lastHeard;

  /** Written by {@link #start()} alone. */
  private volatile @Nullable Thread keeper;

  /**
   * Connects nowhere yet.
   *
   * @param clients makes a client of its own for each connection
   * @param link carries the beats
   * @param channel the channel's full name
   * @param beat how often the connection is tried
   */
  public RedisChannel(Supplier<Redis> clients, RedisLink link, String channel, Duration beat) {
    this.clients = clients;
    this.link = link;
    this.channel = channel;
    this.beat = beat;
    this.patience = beat.multipliedBy(DEAF_AFTER_BEATS);
  }

  /**
   * Adds a listener, which hears every message and returns at once.
   *
   * @param again is told after each subscription that messages may have been missed
   */
  public void listen(Consumer<String> listener, Runnable again) {
    listeners.add(listener);
    subscribed.add(again);
  }

  /** Begins to subscribe, on a thread of its own. To be called once. */
  public void start() {
    keeper = Thread.ofVirtual().name("redis-channel").start(this::keep);
  }

  /**
   * Waits for the first subscription.
   *
   * @return whether there has been one
   */
  public boolean awaitSubscribed(Duration time) {
    try {
      first.get(time.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException | ExecutionException none) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Tells whether this replica hears what it is told. A loss that is healed at once doesn't count.
   *
   * @throws RedisUnavailableException when it has heard nothing for three beats, not even itself
   */
  public void check() {
    if (!first.isDone() || isDeaf()) {
      throw new RedisUnavailableException("no subscription that is heard", null);
    }
  }

  private boolean isDeaf() {
    return System.nanoTime() - lastHeard >= patience.toNanos();
  }

  /** Unsubscribes and disconnects. */
  @Override
  public void close() {
    closed.countDown();
    Thread running = keeper;
    if (running != null) {
      running.interrupt();
    }
  }

  private void keep() {
    Duration backOff = MIN_BACK_OFF;
    try {
      while (closed.getCount() > 0) {
        boolean wasSubscribed = serveOneConnection();
        backOff = wasSubscribed ? MIN_BACK_OFF : doubled(backOff);
        if (closed.await(backOff.toMillis(), TimeUnit.MILLISECONDS)) {
          return;
        }
      }
    } catch (InterruptedException interrupted) {
      // Closing interrupts this thread, and nobody else does.
      Thread.currentThread().interrupt();
    }
  }

  private static Duration doubled(Duration backOff) {
    Duration twice = backOff.multipliedBy(2);
    return twice.compareTo(MAX_BACK_OFF) < 0 ? twice : MAX_BACK_OFF;
  }

  /** Returns when the connection is lost or deaf: whether it ever subscribed. */
  private boolean serveOneConnection() throws InterruptedException {
    RedisConnector connector = new RedisConnector(clients, false);
    try {
      subscribe(connector);
      subscribed.forEach(Runnable::run);
      first.complete(null);
      beatUntilLost(connector);
      return true;
    } catch (ExecutionException | TimeoutException failed) {
      LOG.log(Level.DEBUG, "Could not subscribe to Redis", failed);
      return false;
    } finally {
      connector.drop();
    }
  }

  private void subscribe(RedisConnector connector)
      throws InterruptedException, ExecutionException, TimeoutException {
    RedisConnection connection =
        connector.connection().get(patience.toNanos(), TimeUnit.NANOSECONDS);
    CompletableFuture<Void> acknowledged = new CompletableFuture<>();
    // Before the command: its acknowledgement comes to the handler, not as a reply.
    connection.handler(message -> hear(message, acknowledged));
    connection.send(Request.cmd(Command.SUBSCRIBE).arg(channel));
    CompletableFuture.anyOf(acknowledged, connector.ended())
        .get(patience.toNanos(), TimeUnit.NANOSECONDS);
    if (!acknowledged.isDone()) {
      throw new TimeoutException("connection lost before it was subscribed");
    }
  }

  /** Takes both shapes, the array of RESP2 and the push of RESP3: kind, channel, message. */
  private void hear(@Nullable Response message, CompletableFuture<Void> acknowledged) {
    if (message instanceof Throwable refused) {
      acknowledged.completeExceptionally(refused);
      return;
    }
    if (message == null || message.size() != 3) {
      return;
    }
    String kind = message.get(0).toString();
    if (kind.equals("subscribe")) {
      lastHeard = System.nanoTime();
      acknowledged.complete(null);
    } else if (kind.equals("message")) {
      lastHeard = System.nanoTime();
      String text = message.get(2).toString();
      if (!text.equals(BEAT)) {
        listeners.forEach(listener -> listener.accept(text));
      }
    }
  }

  private void beatUntilLost(RedisConnector connector)
      throws InterruptedException, ExecutionException {
    while (!isDeaf()) {
      link.sendLater(Request.cmd(Command.PUBLISH).arg(channel).arg(BEAT));
      try {
        connector.ended().get(beat.toNanos(), TimeUnit.NANOSECONDS);
        return;
      } catch (TimeoutException stillThere) {
        LOG.log(Level.TRACE, "Still subscribed");
      }
    }
    LOG.log(Level.WARNING, "The subscription to Redis is deaf; subscribing anew");
  }
}

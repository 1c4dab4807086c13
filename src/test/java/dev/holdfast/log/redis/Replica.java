package dev.holdfast.log.redis;

import static org.awaitility.Awaitility.await;

import dev.holdfast.log.Retention;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** One replica's log with its connections, as the program wires them. */
public final class Replica implements AutoCloseable {

  /** The keys of all replicas. */
  public static final RedisKeys KEYS = new RedisKeys("test:");

  /** The bytes of the events of all sessions. */
  static final long MAX_BYTES = 1 << 30;

  /** The replicas that are not lost. */
  static final Set<String> REPLICAS = ConcurrentHashMap.newKeySet();

  private static final Duration BEAT = Duration.ofMillis(500);

  private final Vertx vertx = Vertx.vertx();

  /** Sends the commands. */
  public final RedisClient client;

  private final RedisClient beats;
  private final RedisSubscription channel;

  /** The log of the replica. */
  public final RedisEventLog log;

  /**
   * Starts a replica.
   *
   * @param commandUrl where commands go
   * @param channelUrl where the channel goes
   * @param beatsUrl where the channel's beats go
   */
  public Replica(
      String name,
      String commandUrl,
      String channelUrl,
      String beatsUrl,
      Duration timeout,
      Retention retention) {
    this(
        name,
        at(commandUrl),
        at(channelUrl),
        at(beatsUrl),
        timeout,
        retention,
        MAX_BYTES,
        Long.MAX_VALUE);
  }

  /** Starts a replica that uses one address for everything. */
  public Replica(String name, String url, Retention retention) {
    this(name, url, retention, MAX_BYTES, Long.MAX_VALUE);
  }

  /**
   * Starts a replica that uses one address for everything.
   *
   * @param maxBytes the bytes of the events of all sessions
   */
  Replica(String name, String url, Retention retention, long maxBytes) {
    this(name, url, retention, maxBytes, Long.MAX_VALUE);
  }

  /**
   * Starts a replica that uses one address for everything.
   *
   * @param maxBytes the bytes of the events of all sessions
   * @param maxClientBytes the same for one client
   */
  Replica(String name, String url, Retention retention, long maxBytes, long maxClientBytes) {
    this(
        name,
        at(url),
        at(url),
        at(url),
        Duration.ofSeconds(5),
        retention,
        maxBytes,
        maxClientBytes);
  }

  private Replica(
      String name,
      RedisOptions commands,
      RedisOptions channels,
      RedisOptions beating,
      Duration timeout,
      Retention retention,
      long maxBytes,
      long maxClientBytes) {
    client = RedisClientFactory.create(vertx, () -> commands, timeout, RedisClient.Listener.NONE);
    beats = RedisClientFactory.create(vertx, () -> beating, timeout, RedisClient.Listener.NONE);
    RedisClient subscriptions =
        RedisClientFactory.create(vertx, () -> channels, timeout, RedisClient.Listener.NONE);
    channel =
        new RedisSubscription(
            subscriptions::newSubscriptionClient, beats, KEYS.replicaChannel(name), BEAT);
    log =
        new RedisEventLog(
            client,
            channel,
            KEYS,
            name,
            session -> {},
            retention,
            new RedisEventLog.Bytes(maxBytes, maxClientBytes),
            REPLICAS::contains);
    REPLICAS.add(name);
    channel.start();
    await().atMost(Duration.ofSeconds(30)).ignoreExceptions().untilAsserted(channel::check);
  }

  /**
   * Starts one on a cluster.
   *
   * @param urls some servers of it
   */
  static Replica onCluster(String name, String urls, Retention retention) {
    RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
    Stream.of(urls.split(",")).forEach(options::addConnectionString);
    return new Replica(
        name,
        options,
        options,
        options,
        Duration.ofSeconds(5),
        retention,
        MAX_BYTES,
        Long.MAX_VALUE);
  }

  private static RedisOptions at(String url) {
    return new RedisOptions().setConnectionString(url);
  }

  @Override
  public void close() {
    log.close();
    channel.close();
    beats.close();
    client.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}

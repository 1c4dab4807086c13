package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.Membership;
import dev.holdfast.cluster.OwnedSessions;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.held.HeldConfig;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.RedisCallIndex;
import dev.holdfast.log.redis.RedisEventLog;
import dev.holdfast.log.redis.RedisStreamIndex;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import dev.holdfast.relay.RecordingListener;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.failover.Reconciler;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.redis.RedisSessionStore;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.Upstreams;
import dev.holdfast.wiring.config.ConfigFixture;
import dev.holdfast.wiring.config.GatewayConfig;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A replica without HTTP and configuration files, of which many fit into one process. It is made of
 * the program's own parts, with connections of its own. Its server answers each call with a stream
 * that has one event and then waits.
 */
public final class FleetReplica implements AutoCloseable {

  private static final String SERVER = "server";
  private static final RedisKeys KEYS = new RedisKeys("fleet:");
  private static final SmallRyeConfig CONFIG = ConfigFixture.by(Map.of());
  private static final ProcessMode SERVES = new ProcessMode(new String[] {"serve"});
  private static final int MANY = 10_000_000;
  private static final Duration DAY = Duration.ofDays(1);

  /** Id of the replica. */
  public final ReplicaId id = ReplicaId.random();

  /** Number of sessions in which this replica has opened streams or has tried to adopt some. */
  public final AtomicLong recorded = new AtomicLong();

  private final RecordingListener heard = new RecordingListener();
  private final RedisConnections redis;
  private final RedisEventLog log;
  private final RelayProducer relay;
  private final Reconciler reconciler;
  private final Membership membership;
  private final Thread sweeps;

  /** Starts a replica, which connects to the given address each time. */
  public FleetReplica(
      Vertx vertx, Supplier<String> url, ClusterConfig timing, Duration redisTimeout) {
    Supplier<RedisOptions> options =
        () ->
            new RedisOptions()
                .setConnectionString(url.get())
                .setMaxWaitingHandlers(2 * RedisClient.MAX_PENDING);
    RedisClient client =
        RedisClientFactory.create(vertx, options, redisTimeout, RedisClient.Listener.NONE);
    redis =
        new RedisConnections(
            KEYS,
            id,
            new ReplicaList(client, KEYS, timing.deadAfter()),
            client,
            new RedisSubscription(
                client::newSubscriptionClient,
                client,
                KEYS.replicaChannel(id.value()),
                Duration.ofSeconds(1)),
            new OwnedSessions(client, KEYS, id, redisTimeout.multipliedBy(10)));
    log = newLog();
    redis.subscription().start();
    ScriptedUpstream server = new ScriptedUpstream();
    server.answer = _ -> new Answer.Stream(openStream());
    server.resume = _ -> new ScriptedSource().telling();
    relay = relay(server);
    TakeOver takeOver = relay.takeOver(log.shared());
    reconciler =
        FailoverProducer.reconciler(
            takeOver,
            log.shared(),
            relay.sessions,
            relay.admission,
            relay.pumps,
            Optional.of(redis));
    membership =
        FailoverProducer.membership(takeOver, reconciler, Optional.of(redis), timing, SERVES)
            .orElseThrow();
    membership.start();
    sweeps = Thread.ofVirtual().start(this::sweep);
  }

  private RedisEventLog newLog() {
    return new RedisEventLog(
        redis.client(),
        redis.subscription(),
        KEYS,
        id.value(),
        session -> {
          recorded.incrementAndGet();
          redis.ownedSessions().add(session);
        },
        new Retention(DAY, DAY, 10_000, 1L << 40, DAY, 1L << 40, MANY),
        new RedisEventLog.Bytes(1L << 40, 1L << 40),
        redis.replicas()::isAlive);
  }

  private RelayProducer relay(ScriptedUpstream server) {
    SessionLimits limits = new SessionLimits(MANY, MANY, Map.of());
    RelayProducer.Config config =
        new RelayProducer.Config(
            CONFIG.getConfigMapping(GatewayConfig.class),
            CONFIG.getConfigMapping(StreamConfig.class),
            CONFIG.getConfigMapping(ReplayConfig.class),
            CONFIG.getConfigMapping(StoreFailureConfig.class),
            CONFIG.getConfigMapping(SessionConfig.class),
            CONFIG.getConfigMapping(HeldConfig.class));
    RelayProducer.Stores stores =
        new RelayProducer.Stores(
            log,
            log.shared(),
            new RedisSessionStore(redis.client(), KEYS, DAY, DAY, () -> limits),
            new RedisCallIndex(
                redis.client(),
                KEYS,
                id.value(),
                redis.replicas()::silence,
                redis.replicas().deadAfter()),
            new RedisStreamIndex(redis.client(), KEYS, redis.replicas()::alive));
    return new RelayProducer(
        config,
        new Upstreams(Map.of(SERVER, server)),
        stores,
        new TakeOver.Observers(_ -> {}, heard, AuditLog.OFF, null),
        _ -> {},
        new ClientTokens(1_000_000, InstantSource.system()),
        InstantSource.system());
  }

  private static ScriptedSource openStream() {
    String message = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}";
    return new ScriptedSource()
        .telling()
        .bring(new UpstreamMessage(message.getBytes(StandardCharsets.UTF_8), "u1"));
  }

  /** What a gateway does now and then. */
  private void sweep() {
    try {
      while (true) {
        Thread.sleep(CONFIG.getConfigMapping(GatewayConfig.class).cleanupInterval());
        var _ = relay.housekeeping.sweep();
        relay.housekeeping.keep();
        reconciler.reconcile();
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  /** Opens a session with a call that runs on. */
  public void openCall() {
    SessionId opened =
        Objects.requireNonNull(
                relay
                    .relay
                    .open(SERVER, RelayFixture.initialize("2025-11-25"), Caller.UNKNOWN)
                    .session())
            .id();
    Conversation.Streamable client = new Conversation.Streamable(opened);
    Session session = relay.sessions.find(SERVER, client, Principal.ANONYMOUS);
    Exchange call =
        new Exchange(
            SERVER,
            client,
            Caller.UNKNOWN,
            Envelopes.read(RelayFixture.call("1", "t").getBytes(StandardCharsets.UTF_8)),
            () -> false);
    if (!(relay.sender.request(session, call, () -> {}) instanceof Reply.Stream)) {
      throw new IllegalStateException("the call has no stream");
    }
  }

  /** The streams that this replica writes. */
  public List<StreamRef> written() {
    return relay.pumps.streams();
  }

  /** Number of streams that this replica has adopted, with those that it has reclaimed. */
  public int adopted() {
    return heard.resumptions.get() + heard.lost.get();
  }

  /** The log of this replica. */
  public RedisEventLog log() {
    return log;
  }

  /** The replicas as this one sees them. */
  public ReplicaList replicas() {
    return redis.replicas();
  }

  /** Falls silent at once, as if killed: Redis and other replicas hear nothing more. */
  public void kill() {
    redis.client().close();
    close();
  }

  /** Leaves the cluster and stops. */
  @Override
  public void close() {
    sweeps.interrupt();
    membership.close();
    redis.subscription().close();
    log.close();
    redis.client().close();
  }
}

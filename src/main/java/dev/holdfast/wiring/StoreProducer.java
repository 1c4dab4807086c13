package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.console.calls.CallRecords;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.memory.MemoryCallIndex;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.log.redis.RedisCallIndex;
import dev.holdfast.log.redis.RedisEventLog;
import dev.holdfast.log.redis.RedisStreamIndex;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.seal.RedisSealStore;
import dev.holdfast.seal.SealStore;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.session.redis.RedisSessionStore;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.upstream.local.server.RedisLogLevelStore;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.CurrentConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import io.quarkus.runtime.configuration.MemorySize;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** Produces the stores, all in memory or all in Redis, and the audit log. */
@Singleton
final class StoreProducer {

  private static final Logger LOG = Logger.getLogger(StoreProducer.class);

  /** The part of the heap that the memory store fills, and what it has at least. */
  private static final int HEAP_FRACTION = 8;

  private static final long LEAST_MEMORY = 10 << 20;

  /**
   * Extra lifetime of a log level beyond that of an idle session. A session that only listens does
   * not renew its log level.
   */
  private static final Duration LOG_LEVEL_MARGIN = Duration.ofDays(1);

  @Produces final InstantSource clock = InstantSource.system();
  @Produces final EventLog log;
  @Produces final SessionStore sessions;
  @Produces final Supplier<SessionLimits> sessionLimits;
  @Produces final StreamIndex streams;
  @Produces final SharedLog sharedLog;
  @Produces final LogLevelStore logLevels;
  @Produces final SealStore seals;
  @Produces final CallIndex calls;

  @Produces
  @Typed(CallRecords.class)
  final CallRecords records = new CallRecords(clock);

  @Produces final CallListener callListener;

  private final Optional<RedisConnections> redis;

  StoreProducer(
      CheckedConfig checked,
      StreamConfig stream,
      SessionConfig session,
      LimitsConfig limits,
      CurrentConfig current,
      Optional<RedisConnections> redis) {
    this.redis = redis;
    GatewayConfig gateway = checked.gateway();
    callListener = gateway.console() == GatewayConfig.Console.OFF ? CallListener.NONE : records;
    Duration idleTimeout = session.idleTimeout();
    // Keeps an expired session until a sweep ends it, even if two sweeps in a row fail.
    Duration sessionTtl = idleTimeout.plus(gateway.cleanupInterval().multipliedBy(3));
    sessionLimits = current::sessions;
    Retention retention =
        new Retention(
            stream.eventTtl(),
            stream.completedTtl(),
            stream.maxEvents(),
            gateway.log().streamBytes().asLongValue(),
            sessionTtl,
            gateway.log().sessionBytes().asLongValue(),
            limits.streamsPerSession());
    long clientBytes =
        gateway.log().clientBytes().map(MemorySize::asLongValue).orElse(Long.MAX_VALUE);
    if (redis.isEmpty()) {
      MemoryEventLog memoryLog =
          new MemoryEventLog(retention, memoryBytes(gateway.memory()), clientBytes, clock);
      log = memoryLog;
      streams = memoryLog;
      sharedLog = SharedLog.NONE;
      sessions = new MemorySessionStore(idleTimeout, sessionLimits, clock);
      logLevels = new LogLevelStore.InMemory();
      seals = new SealStore.InMemory(clock);
      calls = new MemoryCallIndex(clock);
      return;
    }
    RedisConnections opened = redis.get();
    RedisEventLog redisLog =
        new RedisEventLog(
            opened.client(),
            opened.subscription(),
            opened.keys(),
            opened.replica().value(),
            opened.ownedSessions()::add,
            retention,
            new RedisEventLog.Bytes(gateway.redis().maxBytes().asLongValue(), clientBytes),
            opened.replicas()::isAlive);
    opened.subscription().start();
    log = redisLog;
    streams = new RedisStreamIndex(opened.client(), opened.keys(), opened.replicas()::alive);
    sharedLog = redisLog.shared();
    sessions =
        new RedisSessionStore(
            opened.client(), opened.keys(), idleTimeout, sessionTtl, sessionLimits);
    logLevels =
        new RedisLogLevelStore(opened.client(), opened.keys(), idleTimeout.plus(LOG_LEVEL_MARGIN));
    seals = new RedisSealStore(opened.client(), opened.keys(), clock);
    calls =
        new RedisCallIndex(
            opened.client(),
            opened.keys(),
            opened.replica().value(),
            opened.replicas()::silence,
            opened.replicas().deadAfter());
  }

  /** Switches the audit log on if the configuration asks for it. */
  @Produces
  @Singleton
  AuditLog audit(CheckedConfig checked, ProcessMode mode) {
    return checked.gateway().audit() && mode.serves()
        ? AuditLog.on(checked.gateway().auditCalls(), clock)
        : AuditLog.OFF;
  }

  /** An eighth of the heap, unless configured. */
  private static long memoryBytes(GatewayConfig.Memory memory) {
    long ofHeap = Math.max(LEAST_MEMORY, Runtime.getRuntime().maxMemory() / HEAP_FRACTION);
    long bytes = memory.maxBytes().map(MemorySize::asLongValue).orElse(ofHeap);
    LOG.infof("events are kept in memory max-bytes=%d", bytes);
    return bytes;
  }

  @PreDestroy
  void close() {
    log.close();
    redis.ifPresent(RedisConnections::close);
  }
}

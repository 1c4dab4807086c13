package dev.holdfast.wiring;

import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Retention;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.log.ownership.SharedLog;
import dev.holdfast.log.redis.RedisEventLog;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.session.redis.RedisSessionStore;
import dev.holdfast.upstream.local.logging.LogLevelStore;
import dev.holdfast.upstream.local.logging.MemoryLogLevelStore;
import dev.holdfast.upstream.local.redis.RedisLogLevelStore;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

@Singleton
final class StoreProducer {

  /**
   * Extra lifetime of a log level beyond that of an idle session. A session that only listens does
   * not renew its log level.
   */
  private static final Duration LOG_LEVEL_MARGIN = Duration.ofDays(1);

  private final GatewayConfig gateway;
  private final StreamConfig streams;
  private final SessionConfig sessions;
  private final LimitsConfig limits;
  private final Instance<RedisConnections> redis;

  StoreProducer(
      GatewayConfig gateway,
      StreamConfig streams,
      SessionConfig sessions,
      LimitsConfig limits,
      Instance<RedisConnections> redis) {
    this.gateway = gateway;
    this.streams = streams;
    this.sessions = sessions;
    this.limits = limits;
    this.redis = redis;
  }

  @Produces
  @Singleton
  InstantSource clock() {
    return InstantSource.system();
  }

  @Produces
  @Singleton
  EventLog eventLog(Instance<RedisEventLog> redisLog, InstantSource clock) {
    return switch (gateway.store()) {
      case MEMORY ->
          new MemoryEventLog(retention(), gateway.memory().maxBytes().asLongValue(), clock);
      case REDIS -> redisLog.get();
    };
  }

  @Produces
  @Singleton
  SharedLog sharedLog(Instance<RedisEventLog> redisLog) {
    return switch (gateway.store()) {
      case MEMORY -> SharedLog.NONE;
      case REDIS -> redisLog.get();
    };
  }

  /** Created only where Redis is the store. */
  @Produces
  @Singleton
  @Typed(RedisEventLog.class)
  RedisEventLog redisEventLog() {
    RedisConnections connections = redis.get();
    RedisEventLog log =
        new RedisEventLog(
            connections.client(),
            connections.subscription(),
            connections.keys(),
            connections.replica().value(),
            connections.ownedSessions()::add,
            retention());
    connections.subscription().start();
    return log;
  }

  void close(@Disposes EventLog log) {
    log.close();
    if (gateway.store() == GatewayConfig.Store.REDIS) {
      redis.get().close();
    }
  }

  @Produces
  @Singleton
  SessionStore sessionStore(InstantSource clock) {
    return switch (gateway.store()) {
      case MEMORY -> new MemorySessionStore(sessions.idleTimeout(), sessionLimits(), clock);
      case REDIS ->
          new RedisSessionStore(
              redis.get().client(),
              redis.get().keys(),
              sessions.idleTimeout(),
              sessionTtl(),
              sessionLimits());
    };
  }

  @Produces
  @Singleton
  LogLevelStore logLevels() {
    return switch (gateway.store()) {
      case MEMORY -> new MemoryLogLevelStore();
      case REDIS ->
          new RedisLogLevelStore(
              redis.get().client(),
              redis.get().keys(),
              sessions.idleTimeout().plus(LOG_LEVEL_MARGIN));
    };
  }

  private SessionLimits sessionLimits() {
    Map<String, Integer> byUpstream = new HashMap<>();
    gateway
        .allUpstreams()
        .forEach(
            (name, server) -> server.maxSessions().ifPresent(most -> byUpstream.put(name, most)));
    return new SessionLimits(limits.sessions(), byUpstream);
  }

  private Retention retention() {
    return new Retention(
        streams.eventTtl(),
        streams.completedTtl(),
        streams.maxEvents(),
        sessionTtl(),
        limits.streamsPerSession());
  }

  /** Keeps an expired session until a sweep ends it, even if two sweeps in a row fail. */
  private Duration sessionTtl() {
    return sessions.idleTimeout().plus(gateway.cleanupInterval().multipliedBy(3));
  }
}

package dev.holdfast.wiring;

import dev.holdfast.http.LimitsConfig;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Retention;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.relay.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Makes the stores. */
@Singleton
final class StoreProducer {

  private final GatewayConfig gateway;
  private final StreamConfig streams;
  private final SessionConfig sessions;
  private final LimitsConfig limits;

  StoreProducer(
      GatewayConfig gateway, StreamConfig streams, SessionConfig sessions, LimitsConfig limits) {
    this.gateway = gateway;
    this.streams = streams;
    this.sessions = sessions;
    this.limits = limits;
  }

  @Produces
  @Singleton
  InstantSource clock() {
    return InstantSource.system();
  }

  @Produces
  @Singleton
  EventLog eventLog(InstantSource clock) {
    Retention retention =
        new Retention(
            streams.eventTtl(),
            streams.completedTtl(),
            streams.maxEvents(),
            sessions.idleTimeout(),
            limits.streamsPerSession());
    return new MemoryEventLog(retention, gateway.memory().maxBytes().asLongValue(), clock);
  }

  void close(@Disposes EventLog log) {
    log.close();
  }

  @Produces
  @Singleton
  SessionStore sessionStore(InstantSource clock) {
    return new MemorySessionStore(sessions.idleTimeout(), limits.sessions(), clock);
  }
}

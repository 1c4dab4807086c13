package dev.holdfast.wiring;

import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.ownership.SharedLog;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.legacy.PendingSessions;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.relay.tail.Tails;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionStore;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** Produces the relay and its components. */
@Singleton
final class RelayProducer {

  @Produces
  @Singleton
  Admission admission() {
    return new Admission();
  }

  @Produces
  @Singleton
  Tails tails() {
    return new Tails();
  }

  @Produces
  @Singleton
  Pumps pumps(StoreFailureConfig storeFailure, RelayListener listener) {
    return new Pumps(storeFailure.hold(), listener);
  }

  @Produces
  @Singleton
  PinnedSessions pinnedSessions(SharedLog log, Pumps pumps, RelayListener listener) {
    return new PinnedSessions(log.inbox(), pumps, listener);
  }

  @Produces
  @Singleton
  SessionUpstreams sessionUpstreams(ConfiguredUpstreams upstreams, SessionStore store) {
    return new SessionUpstreams(upstreams.byName(), store);
  }

  @Produces
  @Singleton
  Sessions sessions(
      SessionStore store,
      SessionUpstreams upstreams,
      EventLog log,
      Pumps pumps,
      PinnedSessions pinned,
      RelayListener listener,
      SessionConfig config,
      InstantSource clock) {
    return new Sessions(
        store, upstreams, log, pumps, pinned, listener, config.idleTimeout(), clock);
  }

  @Produces
  @Singleton
  MessageRouter messageRouter(
      Sessions sessions,
      SessionUpstreams upstreams,
      SharedLog log,
      Pumps pumps,
      PinnedSessions pinned,
      RelayListener listener) {
    MessageRouter router =
        new MessageRouter(sessions, upstreams, log.inbox(), pumps, pinned, listener);
    router.start();
    return router;
  }

  @Produces
  @Singleton
  StreamStarter streamStarter(
      Sessions sessions,
      SessionUpstreams upstreams,
      MessageRouter router,
      EventLog log,
      Pumps pumps,
      RelayListener listener) {
    return new StreamStarter(sessions, upstreams, router, log, pumps, listener);
  }

  @Produces
  @Singleton
  TailOpener tailOpener(
      EventLog log,
      StreamConfig streams,
      ReplayConfig replay,
      RelayListener listener,
      Tails tails,
      Admission admission,
      Sessions sessions,
      InstantSource clock) {
    return new TailOpener(log, streams, replay, listener, tails, admission, sessions::used, clock);
  }

  @Produces
  @Singleton
  TakeOver takeOver(
      Sessions sessions,
      SessionUpstreams upstreams,
      EventLog log,
      SharedLog sharedLog,
      MessageRouter router,
      Pumps pumps,
      PinnedSessions pinned,
      RelayListener listener) {
    return new TakeOver(sessions, upstreams, log, sharedLog, router, pumps, pinned, listener);
  }

  @Produces
  @Singleton
  Relay relay(
      Sessions sessions,
      SessionUpstreams upstreams,
      EventLog log,
      Pumps pumps,
      StreamStarter starter,
      MessageRouter router,
      TailOpener tails,
      Admission admission,
      StreamConfig streams,
      ReplayConfig replay,
      RelayListener listener) {
    return new Relay(
        sessions, upstreams, log, pumps, starter, router, tails, admission, streams, replay,
        listener);
  }

  @Produces
  @Singleton
  LegacySseRelay legacySseRelay(
      Sessions sessions,
      SessionUpstreams upstreams,
      SessionStore store,
      EventLog log,
      Admission admission,
      MessageRouter router,
      StreamStarter starter,
      TailOpener tails,
      RelayListener listener) {
    PendingSessions pending = new PendingSessions(sessions, upstreams, store, log);
    return new LegacySseRelay(
        sessions, upstreams, pending, admission, router, starter, tails, listener);
  }

  /** With several upstreams, no single upstream may use up the common request limit. */
  @Produces
  @Singleton
  RequestLimit requestLimit(GatewayConfig gateway, LimitsConfig limits) {
    int each = gateway.upstreams().isEmpty() ? limits.requests() : (limits.requests() + 1) / 2;
    Map<String, Integer> requests = new HashMap<>();
    gateway
        .allUpstreams()
        .forEach((name, server) -> requests.put(name, server.maxRequests().orElse(each)));
    return new RequestLimit(limits.requests(), requests);
  }
}

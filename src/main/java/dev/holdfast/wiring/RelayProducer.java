package dev.holdfast.wiring;

import dev.holdfast.http.LimitsConfig;
import dev.holdfast.http.UpstreamLimits;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.log.redis.RedisEventLog;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionStore;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** Puts the relay together. */
@Singleton
final class RelayProducer {

  @Produces
  @Singleton
  Parts parts(
      EventLog log,
      StreamConfig streams,
      ReplayConfig replay,
      StoreFailureConfig storeFailure,
      RelayListener listener) {
    Inbox inbox = log instanceof RedisEventLog shared ? shared.inbox() : Inbox.NONE;
    return new Parts(log, inbox, streams, replay, storeFailure.hold(), listener);
  }

  @Produces
  @Singleton
  Sessions sessions(
      SessionStore store,
      ConfiguredUpstreams upstreams,
      Parts parts,
      SessionConfig config,
      InstantSource clock) {
    return new Sessions(store, upstreams.byName(), parts, config.idleTimeout(), clock);
  }

  /** An upstream that is stuck must leave room for the others, where there are any. */
  @Produces
  @Singleton
  UpstreamLimits upstreamLimits(GatewayConfig gateway, LimitsConfig limits) {
    int each = gateway.upstreams().isEmpty() ? limits.requests() : (limits.requests() + 1) / 2;
    Map<String, Integer> requests = new HashMap<>();
    gateway
        .everyUpstream()
        .forEach((name, server) -> requests.put(name, server.maxRequests().orElse(each)));
    return new UpstreamLimits(requests);
  }

  @Produces
  @Singleton
  MessageRouter outbound(Sessions sessions, Parts parts) {
    return new MessageRouter(sessions, parts);
  }

  @Produces
  @Singleton
  Relay relay(Sessions sessions, Parts parts, MessageRouter outbound, InstantSource clock) {
    return new Relay(sessions, parts, outbound, clock);
  }
}

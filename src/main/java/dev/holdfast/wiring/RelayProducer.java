package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.cli.CommandContext;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Inbox;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.relay.tail.PageReader;
import dev.holdfast.relay.tail.TailContext;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.relay.tail.Tails;
import dev.holdfast.session.SessionConfig;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builds the relay. */
@Singleton
final class RelayProducer {

  @Produces final Relay relay;
  @Produces final LegacySseRelay legacySseRelay;
  final Admission admission = new Admission();
  final Tails tails = new Tails();
  final Pumps pumps;
  final SessionUpstreams upstreams;
  final KnownClients clients;
  final Sessions sessions;
  final TakeOver takeOver;

  RelayProducer(
      GatewayConfig gateway,
      StoreProducer stores,
      ConfiguredUpstreams configured,
      StreamConfig streams,
      ReplayConfig replay,
      StoreFailureConfig storeFailure,
      SessionConfig session,
      RelayListener listener,
      AuditLog audit,
      @Nullable TraceListener traces) {
    EventLog log = stores.log;
    Inbox inbox = stores.sharedLog.inbox();
    pumps = new Pumps(storeFailure.hold(), listener, traces);
    PinnedSessions pinned = new PinnedSessions(inbox, pumps, listener);
    clients = new KnownClients(gateway.clients());
    upstreams = new SessionUpstreams(configured.byName(), stores.sessions);
    sessions =
        new Sessions(
            stores.sessions,
            upstreams,
            log,
            pumps,
            listener,
            audit,
            session.idleTimeout(),
            stores.clock);
    SessionOpener sessionOpener =
        new SessionOpener(
            sessions,
            upstreams,
            log,
            (writer, server) -> pinned.pin(writer, server, false, null),
            listener,
            audit,
            clients,
            stores.clock);
    MessageRouter router = new MessageRouter(sessions, upstreams, inbox, pumps, pinned);
    StreamStarter starter =
        new StreamStarter(sessions, upstreams, router, log, pumps, listener, traces);
    TailOpener opener =
        new TailOpener(
            new TailContext(
                log,
                streams,
                replay.onGap(),
                listener,
                tails,
                PageReader.pages(),
                stores.clock,
                traces),
            replay,
            clients,
            sessions::used);
    takeOver =
        new TakeOver(
            sessions,
            upstreams,
            log,
            stores.sharedLog,
            router,
            starter,
            pumps,
            pinned,
            configured::adopt,
            listener,
            audit,
            traces);
    relay =
        new Relay(
            sessions,
            sessionOpener,
            upstreams,
            log,
            pumps,
            starter,
            router,
            opener,
            admission,
            streams,
            replay,
            listener);
    legacySseRelay =
        new LegacySseRelay(
            sessions, sessionOpener, upstreams, admission, router, starter, opener, listener);
    router.start();
  }

  @Produces
  @Singleton
  RequestLimit requestLimit(CurrentConfig current) {
    return new RequestLimit(
        () -> current.limits().requests(),
        () -> current.limits().requestsPerAddress(),
        () -> current.limits().requestsPerSecond(),
        current::requests);
  }

  @Produces
  @Singleton
  ConnectionLimit connectionLimit(CurrentConfig current) {
    return new ConnectionLimit(current::limits);
  }

  @Produces
  @Singleton
  CommandContext commandContext(
      GatewayConfig gateway,
      StoreProducer stores,
      ConfiguredUpstreams upstreams,
      LimitsConfig limits) {
    return new CommandContext(
        Optional.ofNullable(stores.redis)
            .map(redis ->
                new CommandContext.SharedStore(
                    new RedisServerInfo(redis.client(), redis.keys()),
                    stores.streams,
                    gateway.redis().maxBytes().asLongValue())),
        upstreams.byName(),
        clients,
        limits.connections(),
        limits.messageBytes().value());
  }
}
